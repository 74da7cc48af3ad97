"""Expected losses by mpmath, from densities (never from integrals of distribution functions, as the crate does it).

Run: python decisions.py; it writes decisions.json beside itself. Nothing is random. 30 digits inside, 17 written.
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 30


def phi(z):
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def probit(p):
    return mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)


LOSSES = {
    "newsvendor": lambda y, a: 3 * (y - a) if y > a else a - y,
    "shortage": lambda y, a: y - a if y > a else mp.mpf(0),
    "absolute": lambda y, a: abs(y - a),
    "squared": lambda y, a: (y - a) ** 2,
    "logarithmic": lambda y, a: mp.log(1 + (y - a) ** 2),
    "steep": lambda y, a: abs(y - a) ** mp.mpf(1.5),
}


def by_density(density, low, high, splits):
    def expect(f, a):
        points = sorted({mp.mpf(p) for p in splits if low < p < high} | ({mp.mpf(a)} if low < a < high else set()))
        points = [low] + points + [high]
        return sum(mp.quad(lambda y: f(y, a) * density(y), [u, v]) for u, v in zip(points, points[1:]))

    return expect


def by_curve(ys, zs, lower, upper):
    """Y = s^-1(Z), Z normal: linear in z between knots, spreads beyond; jumps in z at one y are atoms."""

    def expect(f, a):
        a = mp.mpf(a)
        total = mp.mpf(0)

        def piece(z0, z1, line):
            cuts = [z0, z1]
            # Where the line meets the action, the loss may have a kink.
            slope = line(mp.mpf(1)) - line(mp.mpf(0))
            if slope > 0:
                cross = (a - line(mp.mpf(0))) / slope
                if z0 < cross < z1:
                    cuts = [z0, cross, z1]
            return sum(mp.quad(lambda z: f(line(z), a) * phi(z), [u, v]) for u, v in zip(cuts, cuts[1:]))

        total += piece(-mp.inf, zs[0], lambda z: ys[0] + lower * (z - zs[0]))
        for (y0, z0), (y1, z1) in zip(zip(ys, zs), zip(ys[1:], zs[1:])):
            if z1 > z0:
                total += piece(z0, z1, lambda z: y0 + (y1 - y0) * (z - z0) / (z1 - z0))
        total += piece(zs[-1], mp.inf, lambda z: ys[-1] + upper * (z - zs[-1]))
        return total

    return expect


def quantiles(probabilities, values):
    ys, zs = [mp.mpf(v) for v in values], [probit(mp.mpf(p)) for p in probabilities]
    far = min(3, len(ys) - 1)  # tails follow the chord over the outer four
    lower = (ys[far] - ys[0]) / (zs[far] - zs[0])
    upper = (ys[-1] - ys[-1 - far]) / (zs[-1] - zs[-1 - far])
    return by_curve(ys, zs, lower, upper)


def samples(values):
    ys = sorted(mp.mpf(v) for v in values)
    n = len(ys)
    zs = [probit((i + mp.mpf(1) / 2) / n) for i in range(n)]
    m = sum(ys) / n
    spread = mp.sqrt(sum((y - m) ** 2 for y in ys) / (n - 1))
    return by_curve(ys, zs, spread, spread)


def student(nu, loc, scale):
    c = mp.gamma(mp.mpf(nu + 1) / 2) / (mp.sqrt(nu * mp.pi) * mp.gamma(mp.mpf(nu) / 2) * scale)
    density = lambda y: c * (1 + ((y - loc) / mp.mpf(scale)) ** 2 / nu) ** (-mp.mpf(nu + 1) / 2)
    return by_density(density, -mp.inf, mp.inf, [loc - 5 * scale, loc, loc + 5 * scale])


def log_normal(mu, sigma):
    mu, sigma = mp.mpf(mu), mp.mpf(sigma)

    def expect(f, a):
        cuts = [-mp.inf, -2, 0, 2, mp.inf]
        if a > 0:
            cuts = sorted(cuts + [(mp.log(a) - mu) / sigma])
        return sum(mp.quad(lambda z: f(mp.exp(mu + sigma * z), a) * phi(z), [u, v]) for u, v in zip(cuts, cuts[1:]))

    return expect


def gaussian(mean, std):
    return by_curve([mp.mpf(mean)], [mp.mpf(0)], mp.mpf(std), mp.mpf(std))


P, V = [0.05, 0.25, 0.5, 0.5625, 0.9], [-1.0, 0.5, 2.0, 2.0, 6.5]
S = [3.0, -1.5, 0.25, 0.25, 7.0, 2.0]
CASES = [
    ({"gaussian": {"mean": 1.5, "std": 0.75}}, gaussian(1.5, 0.75), [-6.0, 0.0, 1.5, 2.25, 9.0]),
    ({"quantiles": {"probabilities": P, "values": V}}, quantiles(P, V), [-4.0, 1.0, 2.0, 5.0, 12.0]),
    ({"samples": {"values": S}}, samples(S), [-5.0, 0.25, 1.0, 8.0]),
    ({"student-t": {"dof": 3.0, "location": 1.0, "scale": 2.0}}, student(3, 1, 2), [-10.0, 0.0, 1.0, 4.5]),
    ({"log-normal": {"mu": 0.25, "sigma": 0.75}}, log_normal(0.25, 0.75), [-1.0, 0.5, 1.5, 4.0]),
]

out = []
for name, expect, actions in CASES:
    one = lambda y, a: y
    mean = expect(one, 0.0)
    variance = expect(lambda y, a: (y - mean) ** 2, 0.0)
    losses = {k: [float(expect(f, a)) for a in actions] for k, f in LOSSES.items()}
    out.append(
        {
            "forecast": name,
            "actions": actions,
            "mean": float(mean),
            "standard_deviation": float(mp.sqrt(variance)),
            "losses": losses,
        }
    )
    print(*name, float(mean), float(mp.sqrt(variance)))

integral = [-30, -20.0, -10.0, -5.0, -4.0, -3.0, -2.99, -2.5, -2.0, -1.0, 0.0, 0.5, 3.0, 20.0]
with mp.workdps(60):  # z Φ(z) + φ(z) loses four digits to cancellation at z = −30
    tail = [float(mp.mpf(z) * mp.ncdf(z) + phi(mp.mpf(z))) for z in integral]
document = {
    "mpmath": mp.__version__,
    "cases": out,
    "integral_of_cdf": {"z": [float(z) for z in integral], "value": tail},
}
path = Path(__file__).with_name("decisions.json")
path.write_text(json.dumps(document, indent=1) + "\n")
