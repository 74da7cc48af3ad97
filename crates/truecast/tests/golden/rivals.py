"""Reference values of two rivals, regression of a normal distribution and of quantiles: small, slow, and independent of the crate.

    python rivals.py            # writes rivals.json beside this file; needs numpy
    python rivals.py --check    # compares the committed file with a fresh run, to 1e-6

Layout of rivals.json: numpy (version), window, rate, half_life; streams name -> {location[], scale[], outcome[]}; cases[]: method, stream, steps[]
(the forecast's number), announced[] (for each: the quantiles at `probabilities`, in the outcome's own units).

The normal regression is fitted from scratch each time, by simplex descent and then Newton's method with numerical derivatives, on the raw coefficients of
    y ~ N(a + b location, exp(2 (c + d ln scale)));
the quantile regression is run as written in the header of quantile_regression.rs, one number at a time.
"""

import json
import math
import pathlib
import statistics
import sys

import numpy as np

FILE = pathlib.Path(__file__).with_name("rivals.json")
WINDOW, RATE, HALF_LIFE, STEPS = 40, 0.5, 60.0, 160
PROBABILITIES = (0.025, 0.1, 0.5, 0.9, 0.975)
NORMAL = statistics.NormalDist()
LOWER = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
LEVELS = LOWER + (0.5,) + tuple(1 - q for q in reversed(LOWER))
erf = np.vectorize(math.erf)


def streams():
    rng = np.random.default_rng(21)
    t = np.arange(STEPS)
    location = 50.0 + 8.0 * np.sin(t / 9.0) + rng.normal(size=STEPS)
    scale = np.exp(0.5 * np.sin(t / 5.0) + 0.1 * rng.normal(size=STEPS))
    return {
        "affine": {
            "location": location,
            "scale": scale,
            "outcome": 3.0 + 0.9 * location + 1.7 * scale**0.6 * rng.normal(size=STEPS),
        },
        "still": {
            "location": np.full(STEPS, -2.0),
            "scale": np.full(STEPS, 0.5),
            "outcome": -2.3 + 0.3 * rng.standard_t(4, size=STEPS),
        },
    }


def crps(mu, sigma, y):
    e = (y - mu) / sigma
    cdf = 0.5 * (1 + erf(e / math.sqrt(2)))
    return sigma * (e * (2 * cdf - 1) + 2 * np.exp(-0.5 * e * e) / math.sqrt(2 * math.pi) - 1 / math.sqrt(math.pi))


class Fit:
    """The window's penalised loss in the coefficients around the base: mean shift in mean scales, its slope, log ratio, its slope."""

    def __init__(self, l, s, y):
        self.l, self.s, self.y = (np.asarray(v, float) for v in (l, s, y))
        self.unit, self.centre, self.log = self.s.mean(), self.l.mean(), np.log(self.s).mean()

    def distribution(self, v, l, s):
        mu = l + self.unit * v[0] + v[1] * (l - self.centre)
        ratio = np.clip(v[2] + v[3] * (np.log(s) - self.log), -9, 9)
        return mu, s * np.exp(ratio)

    def loss(self, v):
        ridge = v[0] ** 2 + v[1] ** 2 + 0.5 * v[2] ** 2 + 0.5 * v[3] ** 2
        return crps(*self.distribution(v, self.l, self.s), self.y).sum() / self.unit + ridge / (2 * math.sqrt(math.pi))

    def minimum(self, v):
        """Simplex descent (Nelder & Mead) from v, twice, then Newton's method."""
        for size in (0.3, 0.01):
            points = [np.array(v)] + [np.array(v) + size * np.eye(4)[i] for i in range(4)]
            values = [self.loss(p) for p in points]
            for _ in range(400):
                order = np.argsort(values)
                points, values = [points[i] for i in order], [values[i] for i in order]
                middle = np.mean(points[:-1], axis=0)
                reach = lambda k: middle + k * (points[-1] - middle)
                p = reach(-1.0)
                value = self.loss(p)
                if value < values[0]:
                    q = reach(-2.0)
                    w = self.loss(q)
                    points[-1], values[-1] = (q, w) if w < value else (p, value)
                elif value < values[-2]:
                    points[-1], values[-1] = p, value
                else:
                    q = reach(0.5)
                    w = self.loss(q)
                    if w < values[-1]:
                        points[-1], values[-1] = q, w
                    else:
                        points = [points[0]] + [points[0] + 0.5 * (p - points[0]) for p in points[1:]]
                        values = [self.loss(p) for p in points]
            v = points[int(np.argmin(values))]
        h = 1e-4
        e = np.eye(4) * h
        for _ in range(4):
            g = np.array([(self.loss(v + e[i]) - self.loss(v - e[i])) / (2 * h) for i in range(4)])
            hess = np.array(
                [
                    [
                        (self.loss(v + e[i] + e[j]) - self.loss(v + e[i] - e[j]) - self.loss(v - e[i] + e[j]) + self.loss(v - e[i] - e[j]))
                        / (4 * h * h)
                        for j in range(4)
                    ]
                    for i in range(4)
                ]
            )
            v = v - np.linalg.solve(hess, g)
        return v


def emos(stream, steps):
    v = np.zeros(4)
    for t in steps:
        first = max(0, t - WINDOW)
        fit = Fit(*(stream[k][first:t] for k in ("location", "scale", "outcome")))
        v = fit.minimum(v)
        mu, sigma = fit.distribution(v, stream["location"][t], stream["scale"][t])
        yield [float(mu + sigma * NORMAL.inv_cdf(p)) for p in PROBABILITIES]


def quantile_regression(stream, steps):
    keep = 2.0 ** (-1.0 / HALF_LIFE)
    theta = {tau: [0.0, 0.0, 0.0] for tau in LEVELS}
    squares = {tau: [10 * tau * (1 - tau)] * 3 for tau in LEVELS}
    ls, ss = [], []
    for t in range(STEPS):
        l, s, y = (float(stream[k][t]) for k in ("location", "scale", "outcome"))
        mean_s = float(np.mean(ss)) if ss else s
        sd = float(np.std(ls)) if ls else 0.0
        far = (l - float(np.mean(ls))) / sd if sd > 0 else 0.0
        phi = [s / mean_s, min(max(far, -3.0), 3.0), 1.0]
        q = {
            tau: l + s * NORMAL.inv_cdf(tau) + mean_s * sum(a * b for a, b in zip(theta[tau], phi)) for tau in LEVELS
        }
        if t in steps:
            announced = sorted(q.values())
            at = {round(tau, 6): value for tau, value in zip(LEVELS, announced)}
            yield [at[round(p, 6)] for p in PROBABILITIES]
        for tau in LEVELS:
            slope = (1.0 if y <= q[tau] else 0.0) - tau
            for i in range(3):
                g = slope * phi[i]
                squares[tau][i] = keep * squares[tau][i] + g * g
                if squares[tau][i] > 0:
                    theta[tau][i] -= RATE * g / math.sqrt(squares[tau][i])
        ls.append(l)
        ss.append(s)


def make():
    data = streams()
    cases = []
    for name, stream in data.items():
        fits = (12, 40, 90, 159)
        cases.append({"method": "emos", "stream": name, "steps": fits, "announced": list(emos(stream, fits))})
        steps = (1, 5, 30, 159)
        announced = list(quantile_regression(stream, steps))
        cases.append({"method": "quantile-regression", "stream": name, "steps": steps, "announced": announced})
    return {
        "numpy": np.__version__,
        "window": WINDOW,
        "rate": RATE,
        "half_life": HALF_LIFE,
        "probabilities": PROBABILITIES,
        "streams": {n: {k: v.tolist() for k, v in s.items()} for n, s in data.items()},
        "cases": cases,
    }


def main():
    fresh = make()
    if "--check" in sys.argv:
        committed = json.loads(FILE.read_text())
        for a, b in zip(committed["cases"], fresh["cases"], strict=True):
            np.testing.assert_allclose(a["announced"], b["announced"], rtol=1e-6, atol=1e-6)
        return
    FILE.write_text(json.dumps(fresh) + "\n")


if __name__ == "__main__":
    main()
