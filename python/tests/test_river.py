"""river: its own checks, pipelines, honest intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from river import checks, compose, datasets, evaluate, linear_model, metrics, preprocessing

import truecast as tc
from truecast.river import OnlineCalibratedRegressor


def pipeline() -> compose.Pipeline:
    return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)


CHECKS = list(checks.yield_checks(OnlineCalibratedRegressor(pipeline())))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check.__name__))
def test_the_checks_of_river(check: Callable[[OnlineCalibratedRegressor], None]) -> None:
    check(OnlineCalibratedRegressor(pipeline()))


def test_there_are_checks() -> None:
    assert len(CHECKS) > 20


def test_the_wrapper_is_predict_then_learn() -> None:
    model, base = OnlineCalibratedRegressor(pipeline()), pipeline()
    rc = tc.Recalibrator()
    scale: tc.PointScale | None = None
    for x, y in datasets.TrumpApproval().take(100):
        point = float(base.predict_one(x))
        forecast = scale.forecast(point) if scale else tc.Gaussian(point, 1.0)
        calibrated = rc.recalibrate(forecast)
        assert model.predict_distribution_one(x) == calibrated
        assert model.predict_one(x) == calibrated.mean()
        assert model.predict_interval_one(x, coverage=0.7) == calibrated.interval(0.7)
        rc.observe(forecast, y)
        if scale is None:
            scale = tc.PointScale(abs(y - point), half_life=100.0)
        else:
            scale.observe(point, y)
        base.learn_one(x, y)
        model.learn_one(x, y)
    assert model.recalibrator.to_bytes() == rc.to_bytes()


def test_a_perfect_start_has_no_scale_yet() -> None:
    model = OnlineCalibratedRegressor(linear_model.LinearRegression())
    model.learn_one({"x": 1.0}, 0.0)  # predicted 0 and got 0
    assert model.predict_distribution_one({"x": 1.0}).base == tc.Gaussian(0.0, 1.0)
    model.learn_one({"x": 1.0}, 250.0)
    assert model.predict_distribution_one({"x": 1.0}).base.std() == 250.0


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_intervals_hold_in_any_unit(unit: float) -> None:
    rng = np.random.default_rng(1)
    model = OnlineCalibratedRegressor(pipeline())
    held = 0
    for _ in range(3000):
        x = {"a": float(rng.normal()), "b": float(rng.normal())}
        y = unit * (2.0 * x["a"] + float(rng.exponential()))
        low, high = model.predict_interval_one(x, coverage=0.8)
        held += low <= y <= high
        model.learn_one(x, y)
    # The guard's budget at n = 3,000: 2·(2√(0.09·3025) + 1)/3000 = 0.0227.
    assert abs(held / 3000 - 0.8) < 0.0227


def test_it_works_where_regressors_do() -> None:
    inside = preprocessing.StandardScaler() | OnlineCalibratedRegressor(linear_model.LinearRegression(intercept_lr=0.1))
    calibrated = evaluate.progressive_val_score(datasets.TrumpApproval(), inside, metrics.MAE()).get()
    plain = evaluate.progressive_val_score(datasets.TrumpApproval(), pipeline(), metrics.MAE()).get()
    # It takes out the regressor's bias, and must not cost accuracy.
    assert calibrated <= plain
    late = evaluate.progressive_val_score(
        datasets.TrumpApproval(), OnlineCalibratedRegressor(pipeline()), metrics.MAE(), moment="ordinal_date", delay=7
    )
    assert np.isfinite(late.get())
