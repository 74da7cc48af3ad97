"""Tunes a kernel ridge regression in 20 trials, and says before each what to expect of it.

The surrogate's forecasts of the next trial's outcome are recalibrated as trials come in, so that "worth trying" means what it says.

    pip install "truecast[sklearn]"
    python examples/python/05_bayesian_optimisation.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score

import truecast as tc

TRIALS, SEED = 20, 5


def main() -> None:
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-3.0, 3.0, (120, 1))
    y = np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(120)

    def error(point: dict[str, Any]) -> float:
        """Mean squared error of kernel ridge regression, in cross-validation."""
        model = KernelRidge(kernel="rbf", alpha=10.0 ** point["log_alpha"], gamma=10.0 ** point["log_gamma"])
        return -float(np.mean(cross_val_score(model, X, y, cv=4, scoring="neg_mean_squared_error")))

    space = {"log_alpha": (-6.0, 2.0), "log_gamma": (-3.0, 2.0)}
    result = tc.minimize(error, space, trials=TRIALS, seed=SEED)

    print(f"{'trial':>5}{'log alpha':>11}{'log gamma':>11}{'error':>10}   forecast with 80 %")
    for trial in result.log:
        ends = "" if trial.interval is None else f"{trial.interval[0]:.3f} to {trial.interval[1]:.3f}"
        print(f"{trial.number:>5}{trial.point['log_alpha']:>11.2f}{trial.point['log_gamma']:>11.2f}{trial.value:>10.4f}   {ends}")
    print(f"best error {result.best_value:.4f} (the noise alone is {0.2**2:.4f}) at {result.best_point}")


if __name__ == "__main__":
    main()
