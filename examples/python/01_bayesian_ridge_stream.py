"""A Bayesian ridge regression that is refitted every week, and calibrated every day.

Demand follows the weather, and from day 1,000 on it is twice as noisy. The regression does not know; the calibration finds out.

    pip install "truecast[sklearn]"
    python examples/python/01_bayesian_ridge_stream.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import BayesianRidge

import truecast as tc

DAYS, WARM_UP, SEED = 2000, 100, 1


def days() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Temperature, wind and weekend of each day, and the demand."""
    rng = np.random.default_rng(SEED)
    X = np.column_stack([rng.normal(12.0, 8.0, DAYS), rng.gamma(2.0, 2.0, DAYS), (np.arange(DAYS) % 7 >= 5).astype(float)])
    noise = np.where(np.arange(DAYS) < 1000, 3.0, 6.0) * rng.standard_normal(DAYS)
    return X, 80.0 - 1.5 * X[:, 0] + 0.8 * X[:, 1] - 10.0 * X[:, 2] + noise


def main() -> None:
    X, y = days()
    recalibrator, model = tc.Recalibrator(), BayesianRidge()
    held: dict[str, list[bool]] = {"as forecast": [], "calibrated": []}
    scores: dict[str, list[float]] = {"as forecast": [], "calibrated": []}
    for day in range(WARM_UP, DAYS):
        if day % 7 == WARM_UP % 7:
            model.fit(X[:day], y[:day])
        mean, std = model.predict(X[day : day + 1], return_std=True)
        forecast = tc.Gaussian(float(mean[0]), float(std[0]))
        for name, each in (("as forecast", forecast), ("calibrated", recalibrator.recalibrate(forecast))):
            low, high = each.interval(0.8)
            held[name].append(low <= y[day] <= high)
            scores[name].append(each.crps(float(y[day])))
        recalibrator.observe(forecast, float(y[day]))

    quiet = 1000 - WARM_UP
    print(f"{'80 % intervals hold':<22}{'before day 1000':>18}{'after':>10}{'CRPS':>10}")
    for name in held:
        early, late = np.mean(held[name][:quiet]), np.mean(held[name][quiet:])
        print(f"{name:<22}{early:>16.1%}{late:>12.1%}{np.mean(scores[name]):>10.3f}")
    print()
    print(f"certificate, {recalibrator.certificate()}")


if __name__ == "__main__":
    main()
