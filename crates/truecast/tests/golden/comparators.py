"""Reference values of the five comparators for single quantiles: small, slow, and independent of the crate.

    python comparators.py            # writes comparators.json beside this file; needs numpy and scipy
    python comparators.py --check    # compares the committed file with a fresh run, to 1e-12

Layout of comparators.json: numpy, scipy (versions), window, prior; sequences name -> scores[]; cases[]: method, sequence, q,
thresholds[] before each outcome ("inf" and "-inf" as strings). Empirical quantiles are found by bisection of the mixture's
distribution function, weights by their definitions from whole histories; nothing is updated in place where a sum will do.
"""

import json
import math
import pathlib
import sys

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

FILE = pathlib.Path(__file__).with_name("comparators.json")
WINDOW, PRIOR, STEPS = 60, 10.0, 240
# Not round: a level times a whole number of scores must not fall on a jump of the empirical distribution, where rounding decides.
QUANTILES = (0.0113, 0.1071, 0.4871, 0.9531)


def sequences():
    rng = np.random.default_rng(20)
    half = np.arange(STEPS) < STEPS // 2
    return {
        "regimes": np.where(half, 0.4, 2.5) * rng.normal(size=STEPS),
        "far": np.where(rng.uniform(size=STEPS) < 0.1, 30.0, 1.0) * rng.standard_t(3, size=STEPS),
        "alternating": np.where(np.arange(STEPS) // 7 % 2 == 0, -2.0, 3.0) + rng.normal(size=STEPS) * 0.01,
        "below": -5.0 + 0.1 * rng.normal(size=STEPS),
    }


class Window:
    """The last scores behind a prior: H(x) = (prior * Phi(x) + count(scores <= x)) / (prior + n)."""

    def __init__(self, scores):
        self.s = np.asarray(scores[-WINDOW:], float)

    def cdf(self, x):
        return (PRIOR * ndtr(x) + np.sum(self.s <= x)) / (PRIOR + len(self.s))

    def before(self, x):
        return (PRIOR * ndtr(x) + np.sum(self.s < x)) / (PRIOR + len(self.s))

    def quantile(self, p):
        if p <= 0:
            return -math.inf
        if p >= 1:
            return math.inf
        low, high = -1e4, 1e4
        for _ in range(200):
            middle = 0.5 * (low + high)
            if self.cdf(middle) >= p:
                high = middle
            else:
                low = middle
        return high


def aci(scores, q, rate=0.005):
    hits, out = [], []
    for t, z in enumerate(scores):
        level = q + rate * (q * t - sum(hits))
        out.append(Window(scores[:t]).quantile(level))
        hits.append(1.0 if z <= out[-1] else 0.0)
    return out


def dtaci(scores, q, horizon=500.0):
    rates = np.array([0.001 * 2**i for i in range(8)])
    k, alpha = len(rates), 1 - q
    eta = math.sqrt(3 / horizon) * math.sqrt(
        (math.log(k * horizon) + 2) / ((1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3))
    sigma = 1 / (2 * horizon)
    levels, weights, out = np.full(k, q), np.ones(k), []
    for t, z in enumerate(scores):
        window = Window(scores[:t])
        out.append(window.quantile(float(weights @ levels / weights.sum())))
        b = window.before(z)
        loss = np.where(b >= levels, q * (b - levels), (1 - q) * (levels - b))
        bar = weights * np.exp(-eta * loss)
        weights = (1 - sigma) * bar + sigma * bar.sum() / k
        weights = weights / weights.sum()
        levels = levels + rates * (q - (levels >= b))
    return out


def sf_ogd(scores, q, rate=1.0, start=None):
    theta, gradients, out = float(ndtri(q)) if start is None else start, [], []
    for z in scores:
        out.append(theta)
        gradients.append((1.0 if z <= theta else 0.0) - q)
        theta -= rate * gradients[-1] / math.sqrt(sum(g * g for g in gradients))
    return out + [theta]


def saocp(scores, q, radius=math.sqrt(3), lifetime=8):
    """Experts as whole histories; each expert's path is recomputed from its beginning by sf_ogd."""
    def length(i):
        n = 1
        while i % (2 * n) == 0:
            n *= 2
        return lifetime * n

    def loss(theta, z):
        return q * (z - theta) if z > theta else (1 - q) * (theta - z)

    starts, gains, weights, out, active = {}, {}, {}, [], []

    def mean(t, members):
        prior = {i: i**-2.0 / (1 + math.floor(math.log2(i))) for i in members}
        theta = {i: sf_ogd(scores[i - 1 : t - 1], q, radius / math.sqrt(3), starts[i])[-1] for i in members}
        p = {i: prior[i] * max(weights[i][-1], 0.0) for i in members}
        if sum(p.values()) <= 0:
            p = prior
        return sum(p[i] * theta[i] for i in members) / sum(p.values()), theta

    for t in range(1, len(scores) + 1):
        starts[t] = mean(t, active)[0] if t > 1 else float(ndtri(q))      # of those of the step before
        gains[t], weights[t] = [], [0.0]
        active = [i for i in range(1, t + 1) if t < i + length(i)]
        theta, each = mean(t, active)
        out.append(theta)
        z = scores[t - 1]
        for i in active:
            gain = min(max((loss(theta, z) - loss(each[i], z)) / radius, -1.0), 1.0)
            if abs(gain) < 1e-12:                      # a tie up to rounding
                gain = 0.0
            gains[i].append(gain if weights[i][-1] > 0 else max(gain, 0.0))
            bet = sum(w * g for w, g in zip(weights[i], gains[i]))
            weights[i].append(sum(gains[i]) * (1 + bet) / (t - i + 1))
    return out


def pid(scores, q, rate=0.05, gain=0.2, saturation=1.0):
    hits, out = [], []
    for t, z in enumerate(scores):
        e = q * t - sum(hits)
        angle = e * math.log(t) / (t * saturation * math.sqrt(q * (1 - q))) if t > 0 else 0.0
        if abs(angle) >= math.pi / 2:
            out.append(math.copysign(math.inf, angle))
        else:
            out.append(float(ndtri(q)) + rate * e + gain * math.tan(angle))
        hits.append(1.0 if z <= out[-1] else 0.0)
    return out


METHODS = {"aci": aci, "dtaci": dtaci, "sf-ogd": lambda s, q: sf_ogd(s, q)[:-1], "saocp": saocp, "pid": pid}


def number(x):
    return float(x) if math.isfinite(x) else ("inf" if x > 0 else "-inf")


def fresh():
    sets = {name: [float(x) for x in s] for name, s in sequences().items()}
    cases = [
        {"method": m, "sequence": name, "q": q, "thresholds": [number(x) for x in run(s, q)]}
        for m, run in METHODS.items() for name, s in sets.items() for q in QUANTILES
    ]
    return {"numpy": np.__version__, "scipy": scipy.__version__, "window": WINDOW, "prior": PRIOR,
            "sequences": sets, "cases": cases}


def main():
    made = fresh()
    if "--check" not in sys.argv:
        FILE.write_text(json.dumps(made) + "\n")
        return
    kept = json.loads(FILE.read_text())
    for a, b in zip(kept["cases"], made["cases"], strict=True):
        for x, y in zip(a["thresholds"], b["thresholds"], strict=True):
            same = x == y if isinstance(x, str) or isinstance(y, str) else abs(x - y) <= 1e-12 * (1 + abs(y))
            assert same, (a["method"], a["sequence"], a["q"], x, y)


if __name__ == "__main__":
    main()
