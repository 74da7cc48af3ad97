"""Golden values for the parametric forecasts and the normal distribution, by mpmath at 40 digits.

Nothing here shares code or formulas with the crate where that can be avoided: probabilities come from mpmath's special
functions, probit scores and quantiles from root finding, and every CRPS from quadrature of its definition. Deterministic.

    python forecasts.py      # writes forecasts.json beside this file; needs mpmath and scipy
"""

import json
import pathlib
import sys

import mpmath as mp
import scipy
from scipy import stats

mp.mp.dps = 40


def ncdf(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def ln_ncdf(z):
    return mp.log(ncdf(z)) if z < 5 else mp.log1p(-ncdf(-z))


def lower_quantile_of_ln(ln_p):
    """z < 0 with ln Phi(z) = ln_p, by Newton's method."""
    z = -mp.sqrt(-2 * ln_p) if ln_p < -5 else mp.mpf(-1)
    for _ in range(200):
        p = ncdf(z)
        step = (mp.log(p) - ln_p) * p * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2)
        z -= step
        if abs(step) < mp.mpf(10) ** (5 - mp.mp.dps) * (1 + abs(z)):
            return z
    raise RuntimeError(f"no convergence at {ln_p}")


def probit(cdf, sf):
    if cdf == 0:
        return -mp.inf
    if sf == 0:
        return mp.inf
    if cdf == sf:
        return mp.mpf(0)
    return lower_quantile_of_ln(mp.log(cdf)) if cdf < sf else -lower_quantile_of_ln(mp.log(sf))


class Gaussian:
    def __init__(self, mean, std):
        self.m, self.s = mp.mpf(mean), mp.mpf(std)
        self.scipy = stats.norm(mean, std)

    def cdf(self, y):
        return ncdf((y - self.m) / self.s)

    def sf(self, y):
        return ncdf((self.m - y) / self.s)

    def standard_quantile(self, p, q):
        return self.m + self.s * probit(p, q)


class StudentT:
    def __init__(self, dof, location, scale):
        self.nu, self.m, self.s = mp.mpf(dof), mp.mpf(location), mp.mpf(scale)
        self.scipy = stats.t(dof, location, scale)

    def upper(self, t):
        """P(T > t) for t >= 0."""
        if t == 0:
            return mp.mpf(1) / 2
        x = self.nu / (self.nu + t * t)
        return mp.betainc(self.nu / 2, mp.mpf(1) / 2, 0, x, regularized=True) / 2

    def cdf(self, y):
        t = (y - self.m) / self.s
        return self.upper(-t) if t < 0 else 1 - self.upper(t)

    def sf(self, y):
        t = (y - self.m) / self.s
        return self.upper(t) if t > 0 else 1 - self.upper(-t)

    def standard_quantile(self, p, q, steps=160):
        if p == q:
            return self.m
        tail = min(p, q)
        lo, hi = mp.mpf(-60), mp.mpf(2000)  # ln t
        if mp.log(self.upper(mp.exp(lo))) < mp.log(tail):
            raise RuntimeError("bracket")
        for _ in range(steps):
            mid = (lo + hi) / 2
            if self.upper(mp.exp(mid)) > tail:
                lo = mid
            else:
                hi = mid
        t = mp.exp(lo)
        return self.m + (t if q < p else -t) * self.s


class Laplace:
    def __init__(self, location, scale):
        self.m, self.s = mp.mpf(location), mp.mpf(scale)
        self.scipy = stats.laplace(location, scale)

    def lower(self, x):
        return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2

    def cdf(self, y):
        return self.lower((y - self.m) / self.s)

    def sf(self, y):
        return self.lower((self.m - y) / self.s)

    def standard_quantile(self, p, q):
        return self.m + self.s * (mp.log(2 * p) if p < q else -mp.log(2 * q))


class Logistic(Laplace):
    def __init__(self, location, scale):
        super().__init__(location, scale)
        self.scipy = stats.logistic(location, scale)

    def lower(self, x):
        return 1 / (1 + mp.exp(-x))

    def standard_quantile(self, p, q):
        return self.m + self.s * mp.log(p / q)


class LogNormal:
    def __init__(self, mu, sigma):
        self.m, self.s = mp.mpf(mu), mp.mpf(sigma)
        self.scipy = stats.lognorm(sigma, scale=float(mp.exp(self.m)))

    def cdf(self, y):
        return mp.mpf(0) if y <= 0 else ncdf((mp.log(y) - self.m) / self.s)

    def sf(self, y):
        return mp.mpf(1) if y <= 0 else ncdf((self.m - mp.log(y)) / self.s)

    def standard_quantile(self, p, q):
        return mp.exp(self.m + self.s * probit(p, q))


class Uniform:
    def __init__(self, low, high):
        self.a, self.b = mp.mpf(low), mp.mpf(high)
        self.scipy = stats.uniform(low, high - low)

    def cdf(self, y):
        return min(max((y - self.a) / (self.b - self.a), mp.mpf(0)), mp.mpf(1))

    def sf(self, y):
        return 1 - self.cdf(y)

    def standard_quantile(self, p, q):
        return self.a + (self.b - self.a) * p


KINDS = {
    "gaussian": (Gaussian, ["mean", "std"], [(0.0, 1.0), (20.0, 2.5), (-3e9, 1e9), (1e-9, 1e-9)]),
    "student-t": (
        StudentT,
        ["dof", "location", "scale"],
        [(0.75, 0.0, 1.0), (1.0, 0.0, 1.0), (1.5, 0.5, 2.0), (3.0, -1.0, 1e-9), (7.3, 0.0, 1e9),
         (300.0, 2.0, 1.0), (1e4, 0.0, 1.0)],
    ),
    "laplace": (Laplace, ["location", "scale"], [(0.0, 1.0), (4.0, 1e-3), (-2e9, 1e9)]),
    "logistic": (Logistic, ["location", "scale"], [(0.0, 1.0), (4.0, 1e-3), (-2e9, 1e9)]),
    "log-normal": (LogNormal, ["mu", "sigma"], [(0.0, 1.0), (2.0, 0.05), (-5.0, 3.0), (0.5, 1e-4), (0.0, 9.0)]),
    "uniform": (Uniform, ["low", "high"], [(0.0, 1.0), (-3.0, 5.0), (1e9, 3e9)]),
}

STEPS = [-1000.0, -100.0, -40.0, -37.0, -8.0, -3.0, -1.0, -0.25, 0.0, 0.5, 1.7, 2.5, 6.0, 37.0, 40.0, 100.0, 1000.0]
CRPS_STEPS = [-100.0, -3.0, -0.25, 0.0, 0.5, 1.7, 6.0, 40.0]
PROBABILITIES = [1e-300, 1e-20, 1e-6, 0.01, 0.2, 0.4375, 0.5, 0.75, 0.9, 0.999, 1 - 2.0**-40]


def outcomes(kind, p, steps):
    if kind == "log-normal":
        mu, sigma = p
        return [-1.0, 0.0] + [float(mp.exp(mp.mpf(mu) + mp.mpf(sigma) * s)) for s in steps if abs(s) <= 40]
    if kind == "uniform":
        low, high = p
        return [low - (high - low), low, low + (high - low) * 2.0**-30, low + 0.3 * (high - low),
                high - (high - low) * 2.0**-30, high, high + 2 * (high - low)]
    location, scale = p[-2], p[-1]
    return [location + scale * s for s in steps]


def number(x):
    """A double, or None where there is none (overflow to infinity)."""
    x = float(x)
    return x if abs(x) != float("inf") else ("inf" if x > 0 else "-inf")


def cuts(d):
    """Quantiles from one far tail to the other, for the quadrature to split at: every piece is smooth and of its own scale."""
    exponents = (60, 45, 33, 25, 20, 15, 11, 8, 6, 5, 4, 3, 2)
    tails = [mp.mpf(10) ** -e for e in exponents] + [mp.mpf(k) / 10 for k in (1, 2, 3, 4)]
    half = mp.mpf(1) / 2
    pairs = [(t, 1 - t) for t in tails] + [(half, half)] + [(1 - t, t) for t in tails]
    rough = {"steps": 24} if isinstance(d, StudentT) else {}  # anywhere near will do
    return [d.standard_quantile(p, q, **rough) for p, q in pairs]


def crps(d, at, y):
    """Quadrature of the definition: squared probabilities on either side of the outcome."""
    with mp.workdps(25):
        y = mp.mpf(y)
        below = sorted({c for c in at if c < y} | {y})
        above = sorted({c for c in at if c > y} | {y})
        total = mp.mpf(0)
        if isinstance(d, StudentT):  # what the power law leaves beyond the last cut, F ~ C |t|^-nu
            low, high = below[0], above[-1]
            total += d.cdf(low) ** 2 * (d.m - low) / (2 * d.nu - 1) if low < d.m else 0
            total += d.sf(high) ** 2 * (high - d.m) / (2 * d.nu - 1) if high > d.m else 0
        for a, b in zip(below, below[1:]):
            total += mp.quad(lambda x: d.cdf(x) ** 2, [a, b])
        for a, b in zip(above, above[1:]):
            total += mp.quad(lambda x: d.sf(x) ** 2, [a, b])
        return total


def main():
    print(f"python {sys.version.split()[0]}, mpmath {mp.__version__}, scipy {scipy.__version__}")
    kinds = []
    for kind, (build, names, parameters) in KINDS.items():
        for p in parameters:
            d = build(*p)
            points = []
            for y in outcomes(kind, p, STEPS):
                m = mp.mpf(y)
                cdf, sf = d.cdf(m), d.sf(m)
                # The independent check of this script itself; scipy loses digits in far tails, hence the mild bound.
                other = d.scipy.cdf(y)
                assert abs(other - float(cdf)) <= 1e-7 * abs(other) + 1e-12, (kind, p, y, other, float(cdf))
                points.append({"y": y, "cdf": number(cdf), "sf": number(sf), "probit": number(probit(cdf, sf))})
            quantiles = [{"p": q, "y": number(d.standard_quantile(mp.mpf(q), 1 - mp.mpf(q)))} for q in PROBABILITIES]
            at = cuts(d)
            scores = [{"y": y, "crps": number(crps(d, at, y))} for y in outcomes(kind, p, CRPS_STEPS)]
            kinds.append({"forecast": {kind: dict(zip(names, p))}, "points": points, "quantiles": quantiles, "scores": scores})
            print(kind, p, flush=True)
    zs = [-1e8, -1000.0, -100.0, -38.5, -37.0, -30.5, -29.5, -10.0, -5.0, -1.5, -0.3, 0.0, 1e-9, 0.7, 2.0, 5.0, 8.0, 20.0, 37.0]
    normal = [{"z": z, "cdf": number(ncdf(mp.mpf(z))), "sf": number(ncdf(-mp.mpf(z))), "ln_cdf": number(ln_ncdf(mp.mpf(z)))}
              for z in zs]
    ps = [1e-305, 1e-300, 1e-100, 1e-20, 1e-9, 1e-3, 0.02, 0.0751, 0.3, 0.5, 0.6, 0.9249, 0.98, 0.999, 1 - 2.0**-30, 1 - 2.0**-52]
    inverse = [{"p": p, "z": number(probit(mp.mpf(p), 1 - mp.mpf(p)))} for p in ps]
    lns = [-1e12, -1e6, -5000.0, -750.0, -601.0, -599.0, -100.0, -20.0, -3.0, -1.0, -0.5, -0.01, -1e-9]
    of_ln = []
    for l in lns:
        cdf, sf = mp.exp(mp.mpf(l)), -mp.expm1(mp.mpf(l))
        of_ln.append({"ln_p": l, "z": number(lower_quantile_of_ln(mp.mpf(l)) if cdf < sf else probit(cdf, sf))})
    out = {"versions": {"mpmath": mp.__version__, "scipy": scipy.__version__}, "kinds": kinds,
           "normal": {"points": normal, "quantiles": inverse, "quantiles_of_ln": of_ln}}
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(out, indent=1) + "\n")


main()
