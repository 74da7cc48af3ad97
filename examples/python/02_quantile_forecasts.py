"""Quantiles of gradient-boosted trees, which are too sure of themselves, made honest while they are in use.

The trees are fitted once, to 1,000 rows; on rows that they have not seen their 80 % intervals hold far less. Calibration learns from the last
part of the fit, and then from each batch of outcomes.

    pip install "truecast[sklearn]"
    python examples/python/02_quantile_forecasts.py
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from truecast.sklearn import OnlineCalibratedRegressor

TRAIN, ROWS, BATCH, SEED = 1000, 5000, 200, 2
QUANTILES = (0.05, 0.1, 0.5, 0.9, 0.95)


def main() -> None:
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-2.0, 2.0, (ROWS, 6))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + (0.3 + np.abs(X[:, 2])) * rng.standard_t(4, ROWS)

    trees = {q: HistGradientBoostingRegressor(loss="quantile", quantile=q, max_iter=40, random_state=SEED) for q in QUANTILES}
    model = OnlineCalibratedRegressor(trees, calibration_size=0.2).fit(X[:TRAIN], y[:TRAIN])

    raw: list[bool] = []
    honest: list[bool] = []
    width: list[float] = []
    for start in range(TRAIN, ROWS, BATCH):
        now, outcomes = X[start : start + BATCH], y[start : start + BATCH]
        low, high = model.estimator_[0.1].predict(now), model.estimator_[0.9].predict(now)
        raw.extend((low <= outcomes) & (outcomes <= high))
        interval = model.predict_interval(now, coverage=0.8)
        honest.extend((interval[:, 0] <= outcomes) & (outcomes <= interval[:, 1]))
        width.append(np.mean(interval[:, 1] - interval[:, 0]) / np.mean(high - low))
        model.observe(now, outcomes)

    print(
        f"of {len(raw)} outcomes, 80 % intervals held {np.mean(raw):.1%} as the trees gave them and {np.mean(honest):.1%} calibrated"
    )
    print(f"calibrated intervals are {np.mean(width):.2f} times as wide")
    print(f"the next one: {model.predict_distribution(X[:1])[0].interval(0.8)}")


if __name__ == "__main__":
    main()
