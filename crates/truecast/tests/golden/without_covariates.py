"""Golden values of calibrated regression without covariates over approachability, with coins and without.

Written from the definitions in docs/theory.md (section 11) and the crate's counter-based draws. Writes
without_covariates.json beside itself. Needs numpy and scipy (1.12 or newer).
"""

import json
import pathlib

import numpy as np
import scipy
from scipy.optimize import isotonic_regression

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
CHECKPOINTS = [0, 1, 2, 10, 99, 300]


def mix(bits):
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def uniform(seed, step, lane):
    bits = mix((seed + GOLDEN) & MASK)
    bits = mix(bits ^ ((step * GOLDEN + GOLDEN) & MASK))
    bits = mix(bits ^ ((lane * 0xD1B54A32D192ED03) & MASK))
    return (bits >> 11) / 2.0**53


class Level:
    """One threshold: sums R_i over plays i/N."""

    def __init__(self, resolution, base):
        self.v = np.arange(resolution + 1) / resolution
        self.sums = np.zeros(resolution + 1)
        self.t = 0
        cell = int(np.clip(np.searchsorted(self.v, base, side="right"), 1, resolution)) - 1
        self.cell, self.part = cell, (base - self.v[cell]) / (self.v[cell + 1] - self.v[cell])

    def weights(self):
        """The left of the two plays, and the probability of the right one."""
        low, high = 0, len(self.v) - 1
        while high - low > 1:
            middle = (low + high) // 2
            owed = self.sums[middle]
            if owed > 0 or (owed == 0 and middle <= self.cell):
                low = middle
            else:
                high = middle
        eta = np.sqrt(len(self.v) / (2.0 * (self.t + 1)))
        left, right = np.clip(eta * self.sums[[low, high]], -1, 1)
        if left - right > 0:
            return low, left / (left - right)
        return low, 0.0 if self.cell < low else 1.0 if self.cell > low else self.part

    def settle(self, low, part, happened):
        self.sums[low] += (1 - part) * (happened - self.v[low])
        self.sums[low + 1] += part * (happened - self.v[low + 1])
        self.t += 1


def main():
    rng = np.random.default_rng(0)
    cases = []
    for bound, intervals, resolution, randomised, seed in [(2.0, 8, 10, True, 7), (10.0, 5, 20, False, 0)]:
        y = np.clip(rng.normal(0.1, 0.3, 301), -1, 1) * bound / 2
        thresholds = -bound / 2 + bound * np.arange(1, intervals) / intervals
        levels = [Level(resolution, j / intervals) for j in range(1, intervals)]
        forecasts = []
        for t in range(301):
            plays = []
            for j, level in enumerate(levels):
                low, part = level.weights()
                if randomised:
                    part = 1.0 if uniform(seed, t, j) < part else 0.0
                plays.append((low, part))
            if t in CHECKPOINTS:
                p = [(1 - a) * l.v[i] + a * l.v[i + 1] for l, (i, a) in zip(levels, plays)]
                forecasts.append(isotonic_regression(p, increasing=True).x.tolist())
            for level, (low, part), threshold in zip(levels, plays, thresholds):
                level.settle(low, part, float(y[t] <= threshold))
        errors = [float(np.abs(level.sums).sum() / 301) for level in levels]
        cases.append(
            {
                "bound": bound,
                "intervals": intervals,
                "resolution": resolution,
                "randomised": randomised,
                "seed": seed,
                "outcomes": y.tolist(),
                "forecasts": forecasts,
                "errors": errors,
            }
        )
    out = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "seed": 0,
        "checkpoints": CHECKPOINTS,
        "cases": cases,
    }
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
