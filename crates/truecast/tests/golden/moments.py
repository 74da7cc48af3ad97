"""Golden means and variances: scipy for the parametric kinds, mpmath for everything made of pieces.

Pieces are integrated from their distribution function alone, E Y = c + integral of (1 - F) above c - integral of F below it, and the same with
2 |y - c| for the second moment, at 30 digits: no formula for moments is shared with the crate. Deterministic.

    python moments.py      # writes moments.json beside this file; needs mpmath and scipy
"""

import json
import pathlib

import mpmath as mp
import scipy
from scipy import stats

mp.mp.dps = 30


def phi(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def probit(p):
    p = mp.mpf(p)
    return mp.mpf(0) if p == 0.5 else mp.sqrt(2) * mp.erfinv(2 * p - 1)


def line(a, b, x):
    """Through the points a and b, at x."""
    return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])


class Curve:
    """Phi of a function that is linear between knots (y, z), and beyond them with the given spreads; a spread of 0 ends the support."""

    def __init__(self, knots, lower, upper):
        self.knots, self.lower, self.upper = knots, lower, upper

    def score(self, y):
        knots = self.knots
        if y < knots[0][0]:
            return knots[0][1] + (y - knots[0][0]) / self.lower if self.lower else -mp.inf
        if y >= knots[-1][0]:
            return knots[-1][1] + (y - knots[-1][0]) / self.upper if self.upper else mp.inf
        i = max(i for i in range(len(knots)) if knots[i][0] <= y)
        return line(knots[i], knots[i + 1], y)

    def cuts(self):
        low, high = self.knots[0], self.knots[-1]
        ends = [low[0] + self.lower * (s - low[1]) for s in (-25, -18, -12, -8, -5, -3, -1) if s < low[1]]
        ends += [high[0] + self.upper * (s - high[1]) for s in (1, 3, 5, 8, 12, 18, 25) if s > high[1]]
        return sorted({*ends, *(k[0] for k in self.knots)})


class Mapped:
    """The normal base seen through a map: a curve through (z, t), linear between its knots, with its own slopes beyond."""

    def __init__(self, mean, std, z, t, left, right):
        self.m, self.s = mp.mpf(mean), mp.mpf(std)
        self.curve = Curve([(mp.mpf(a), mp.mpf(b)) for a, b in zip(z, t)], 1 / mp.mpf(left), 1 / mp.mpf(right))

    def score(self, y):
        return self.curve.score((y - self.m) / self.s)

    def cuts(self):
        return [self.m + self.s * x for x in self.curve.cuts()]


def moments(d):
    cuts = d.cuts()
    c = cuts[len(cuts) // 2]
    mean, square = mp.mpf(0), mp.mpf(0)
    for a, b in zip(cuts, cuts[1:]):
        if a == b:
            continue
        side = 1 if a >= c else -1
        tail = lambda y: phi(-side * d.score(y))
        inside = lambda y: min(max(y, a), b - (b - a) * mp.mpf(10) ** -28)  # a jump at an end belongs to the neighbour
        mean += side * mp.quad(lambda y: tail(inside(y)), [a, b])
        square += mp.quad(lambda y: 2 * abs(y - c) * tail(inside(y)), [a, b])
    return c + mean, square - mean * mean


def quantiles(probabilities, values):
    knots = [(mp.mpf(v), probit(p)) for p, v in zip(probabilities, values)]
    spread = lambda a, b: (b[0] - a[0]) / (b[1] - a[1])
    far = min(3, len(knots) - 1)  # tails follow the chord over the outer four
    return Curve(knots, spread(knots[0], knots[far]), spread(knots[-1 - far], knots[-1]))


def samples(values):
    values = sorted(mp.mpf(v) for v in values)
    n = len(values)
    mean = sum(values) / n
    spread = mp.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return Curve([(v, probit((mp.mpf(i) + 0.5) / n)) for i, v in enumerate(values)], spread, spread)


def parametric():
    yield {"gaussian": {"mean": 20.0, "std": 2.5}}, stats.norm(20.0, 2.5)
    yield {"student-t": {"dof": 2.5, "location": 1.0, "scale": 2.0}}, stats.t(2.5, 1.0, 2.0)
    yield {"student-t": {"dof": 30.0, "location": -1e9, "scale": 1e9}}, stats.t(30.0, -1e9, 1e9)
    yield {"laplace": {"location": 4.0, "scale": 0.3}}, stats.laplace(4.0, 0.3)
    yield {"logistic": {"location": 4.0, "scale": 0.3}}, stats.logistic(4.0, 0.3)
    yield {"log-normal": {"mu": 0.5, "sigma": 1.5}}, stats.lognorm(1.5, scale=float(mp.exp(0.5)))
    yield {"uniform": {"low": -3.0, "high": 5.0}}, stats.uniform(-3.0, 8.0)


# A curve that bends, and one with a jump (an atom) and a gap.
MAPS = [
    ([-2.0, -1.0, 0.0, 1.0, 2.0], [-1.5, -0.75, 0.25, 0.5, 2.5]),
    ([-2.0, -0.5, -0.5, 0.25, 1.0, 1.5, 3.0], [-1.75, -1.0, -0.25, 0.125, 0.125, 1.0, 2.0]),
]


def pieces():
    probabilities, values = [0.05, 0.25, 0.5, 0.75, 0.95], [-1.0, 0.5, 0.75, 4.0, 4.5]
    yield {"quantiles": {"probabilities": probabilities, "values": values}}, quantiles(probabilities, values)
    ensemble = [3.0, -1.0, 2.5, 2.75, 9.0, 0.125]
    yield {"samples": {"values": ensemble}}, samples(ensemble)
    for z, t in MAPS:
        state = {"curve": {"z": z, "t": t, "left": 0.5, "right": 1.25}, "steps": None, "announced": None}
        base = {"gaussian": {"mean": 20.0, "std": 2.5}}
        yield {"recalibrated": {"base": base, "map": state}}, Mapped(20.0, 2.5, z, t, 0.5, 1.25)


def main():
    rows = []
    for forecast, frozen in parametric():
        mean, variance = frozen.stats("mv")
        rows.append({"forecast": forecast, "mean": float(mean), "variance": float(variance)})
    for forecast, d in pieces():
        mean, variance = moments(d)
        rows.append({"forecast": forecast, "mean": float(mean), "variance": float(variance)})
        print(list(forecast), float(mean), float(variance), flush=True)
    # A table of lines is a mixture of uniforms; a mixture adds up its parts. By hand:
    rows.append({"forecast": {"cdf-table": {"points": [0.0, 10.0, 20.0], "probabilities": [0.25, 0.5, 1.0]}},
                 "mean": 0.25 * 5.0 + 0.5 * 15.0, "variance": 0.25 * (25 + 100 / 12) + 0.5 * (225 + 100 / 12) - 8.75**2})
    parts = [{"gaussian": {"mean": -2.0, "std": 0.5}}, {"laplace": {"location": 2.0, "scale": 1.0}}]
    rows.append({"forecast": {"mixture": {"weights": [0.25, 0.75], "components": parts}},
                 "mean": 1.0, "variance": 0.25 * (0.25 + 9.0) + 0.75 * (2.0 + 1.0)})
    out = {"versions": {"mpmath": mp.__version__, "scipy": scipy.__version__}, "rows": rows}
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


main()
