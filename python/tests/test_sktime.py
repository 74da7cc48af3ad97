"""sktime and skpro: their own checks, their columns, streams by horizon."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from skpro.distributions.empirical import Empirical
from skpro.regression.residual import ResidualDouble
from skpro.utils.estimator_checks import check_estimator as check_skpro
from sklearn.linear_model import LinearRegression
from sktime.datasets import load_airline
from sktime.forecasting.base import ForecastingHorizon
from sktime.forecasting.compose import make_reduction
from sktime.forecasting.naive import NaiveForecaster
from sktime.forecasting.trend import TrendForecaster
from sktime.utils.estimator_checks import check_estimator as check_sktime

import truecast as tc
from truecast.skpro import OnlineCalibratedProbaRegressor
from truecast.sktime import LEVELS, OnlineCalibratedForecaster


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Without what sktime says of its own next version, at every construction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# All checks take minutes, each in sktime itself: these are about what we do.
@pytest.mark.parametrize(
    "check",
    [
        "test_constructor",
        "test_clone",
        "test_set_params",
        "test_predict_quantiles",
        "test_raises_not_fitted_error",
    ],
)
def test_checks_of_sktime(check: str) -> None:
    results = check_sktime(OnlineCalibratedForecaster, tests_to_run=check, raise_exceptions=False, verbose=False)
    assert results and {name: result for name, result in results.items() if result != "PASSED"} == {}


def test_the_checks_of_skpro() -> None:
    results = check_skpro(OnlineCalibratedProbaRegressor, raise_exceptions=False, verbose=False)
    assert len(results) > 50 and {name: result for name, result in results.items() if result != "PASSED"} == {}


@pytest.fixture(scope="module")
def y() -> pd.Series[float]:
    return load_airline()[:72]  # type: ignore[no-any-return]


def test_columns_are_those_of_sktime(y: pd.Series[float]) -> None:
    base, fh = NaiveForecaster(), [1, 3]
    ours = OnlineCalibratedForecaster(base, initial_window=60).fit(y, fh=fh)
    theirs = NaiveForecaster().fit(y, fh=fh)
    for asked in ({"coverage": [0.5, 0.9]}, {"coverage": 0.8}):
        one, other = ours.predict_interval(**asked), theirs.predict_interval(**asked)
        assert one.columns.equals(other.columns) and one.index.equals(other.index)
    one, other = ours.predict_quantiles(alpha=[0.1, 0.5]), theirs.predict_quantiles(alpha=[0.1, 0.5])
    assert one.columns.equals(other.columns) and one.index.equals(other.index)
    distributions = ours.predict_distribution()
    assert one.iloc[:, 0].tolist() == [each.quantile(0.1) for each in distributions]
    assert ours.predict().tolist() == [each.mean() for each in distributions]
    assert ours.predict().index.equals(theirs.predict().index)


@pytest.mark.parametrize("speaks", [True, False])
def test_each_horizon_is_a_stream_with_late_outcomes(y: pd.Series[float], speaks: bool) -> None:
    base: Any = NaiveForecaster() if speaks else TrendForecaster()
    ours = OnlineCalibratedForecaster(base, initial_window=60).fit(y[:66], fh=[1, 3]).update(y[66:])
    spread = float(np.std(y[:60]))
    for column, step in enumerate((1, 3)):
        stream, scale = tc.Stream(), tc.PointScale(spread)
        waiting: dict[int, tuple[int, float]] = {}
        for now in range(60, 72):
            model = base.clone().fit(y[:now], fh=ForecastingHorizon([1, 3]))
            point = float(model.predict().iloc[column])
            forecast = (
                tc.Quantiles(LEVELS, model.predict_quantiles(alpha=list(LEVELS)).to_numpy()[column])
                if speaks
                else scale.forecast(point)
            )
            waiting[now + step - 1] = (stream.issue(forecast)[0], point)
            if now in waiting:  # the value at this place is now seen
                ticket, said = waiting.pop(now)
                stream.resolve(ticket, float(y.iloc[now]))
                scale.observe(said, float(y.iloc[now]))
        assert ours.streams_[step].to_bytes() == stream.to_bytes()
        assert ours.streams_[step].steps == 12 - step + 1 and len(stream.pending) == step - 1
    again = pickle.loads(pickle.dumps(ours))
    assert again.predict_interval().equals(ours.predict_interval())


def test_exogenous_data(y: pd.Series[float]) -> None:
    X = pd.DataFrame({"month": y.index.month}, index=y.index)  # type: ignore[attr-defined]
    base = make_reduction(LinearRegression(), window_length=4, strategy="direct")
    ours = OnlineCalibratedForecaster(base, initial_window=60).fit(y[:70], X=X[:70], fh=[1, 2])
    # The forecast of the last step ends after X: nothing is learned from it.
    assert ours.streams_[1].steps == 9 and ours.streams_[2].steps == 9
    intervals = ours.predict_interval(X=X[70:], coverage=0.9)
    assert intervals.shape == (2, 2) and np.isfinite(intervals.to_numpy()).all()


def test_the_past_is_refused(y: pd.Series[float]) -> None:
    with pytest.raises(NotImplementedError, match="can not perform in-sample prediction"):
        OnlineCalibratedForecaster(NaiveForecaster()).fit(y, fh=[0, 1])
    with pytest.raises(ValueError, match="initial_window must leave from 1 to 72 values, got 100"):
        OnlineCalibratedForecaster(NaiveForecaster(), initial_window=100).fit(y, fh=[1])


def test_skpro_is_forecast_then_learn() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400)})
    y = pd.DataFrame({"z": X["a"] + rng.exponential(2.0, 400)})
    model = OnlineCalibratedProbaRegressor(ResidualDouble(LinearRegression()), calibration_size=0.25).fit(X[:200], y[:200])
    model.update(X[200:300], y[200:300])
    base = ResidualDouble(LinearRegression()).fit(X[:150], y[:150]).predict_proba(X[150:300])
    rc = tc.Recalibrator()
    rc.run(tc.Forecasts.gaussian(base.mean()["z"].to_numpy(), np.sqrt(base.var()["z"].to_numpy())), y["z"].to_numpy()[150:300])
    assert model.recalibrator_.to_bytes() == rc.to_bytes()
    new = X[300:]
    quantiles = model.predict_quantiles(new, alpha=[0.1, 0.9])
    assert quantiles.columns.tolist() == [("z", 0.1), ("z", 0.9)] and quantiles.index.equals(new.index)
    intervals = model.predict_interval(new, coverage=0.8)
    assert intervals.columns.tolist() == [("z", 0.8, "lower"), ("z", 0.8, "upper")]
    distributions = model.predict_distribution(new)
    assert np.allclose(intervals.to_numpy(), [each.interval(0.8) for each in distributions])
    assert np.allclose(model.predict(new)["z"], [each.mean() for each in distributions])
    proba = model.predict_proba(new)
    assert isinstance(proba, Empirical)
    assert np.allclose(proba.ppf(0.5)["z"], [each.median() for each in distributions], atol=0.05)
    with pytest.raises(ValueError, match="calibration_size"):
        OnlineCalibratedProbaRegressor(ResidualDouble(LinearRegression()), calibration_size=-0.1).fit(X, y)
