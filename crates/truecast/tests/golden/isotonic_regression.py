"""Golden values of isotonic calibrated regression: scipy's isotonic regression on the weighted pairs (PIT, frequency).

The pairs are made anew at every refit from all outcomes, each rounded up to its bin's edge, with one prior observation
spread evenly. Writes isotonic_regression.json beside itself. Needs numpy and scipy (1.12 or newer).
"""

import json
import pathlib

import numpy as np
import scipy
from scipy.optimize import isotonic_regression
from scipy.stats import norm

CHECKPOINTS = [1, 3, 50, 100, 101, 400, 1500]


def default_levels():
    x = np.linspace(-1.0, 1.0, 25)
    return 6.0 * np.sinh(3.0 * x) / np.sinh(3.0)


def fit(z, weights, levels, bins):
    """The fit at the levels, from all outcomes and their weights; a new observation weighs 1."""
    edges = np.linspace(levels[0], levels[-1], bins + 1)
    tops = norm.cdf(edges)
    abscissas = np.concatenate([tops, [1.0]])  # the last is that of outcomes above all edges
    mass = np.diff(np.concatenate([[0.0], tops, [1.0]]))
    np.add.at(mass, np.searchsorted(edges, z), weights)
    frequency = np.cumsum(mass) / mass.sum()
    fitted = isotonic_regression(frequency, weights=mass, increasing=True).x
    return np.interp(norm.cdf(levels), abscissas, fitted)


def main():
    rng = np.random.default_rng(0)
    cases = []
    for bins, half_life, levels in [
        (200, None, default_levels()),
        (200, 60.0, default_levels()),
        (30, None, np.array([-2.0, -0.7, 0.1, 0.15, 1.3])),
    ]:
        z = 2.5 * rng.standard_normal(1500) - 0.4
        fits, current, since = [], None, 0
        for n in range(1, len(z) + 1):
            age = np.arange(n - 1, -1, -1)
            weights = np.ones(n) if half_life is None else 0.5 ** (age / half_life)
            since += 1
            # Refit when a hundredth of the weight is new; with room for rounding where it is exactly that.
            if weights[n - since :].sum() >= 0.01 * weights.sum() * (1 - 1e-12):
                current, since = fit(z[:n], weights, levels, bins), 0
            if n in CHECKPOINTS:
                fits.append(current.tolist())
        cases.append(
            {"bins": bins, "half_life": half_life, "levels": levels.tolist(), "scores": z.tolist(), "fits": fits}
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
