"""Frames as the real statsforecast and mlforecast make them. Both want a pandas older than that of the other tests, and so are no part of the test
extra: ``make libraries`` runs this, or pytest where they are installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import truecast as tc
from truecast import nixtla

HORIZON, WINDOWS, LEVELS = 3, 60, [80, 95]


@pytest.fixture(scope="module")
def series() -> pd.DataFrame:
    """Two daily series with a weekly pattern."""
    rng = np.random.default_rng(20261116)
    days = pd.date_range("2024-01-01", periods=160, freq="D")
    frames = []
    for name in ("bread", "milk"):
        y = 50.0 + np.cumsum(rng.normal(0.0, 1.0, 160)) + 3.0 * np.sin(2.0 * np.pi * np.arange(160) / 7.0)
        frames.append(pd.DataFrame({"unique_id": name, "ds": days, "y": y}))
    together: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return together


def polars(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars", reason="Polars is not installed").DataFrame(frame.to_dict("list"))


class Statsforecast:
    """Random walk, weekly random walk and Theta, each with its own intervals."""

    models = ("Naive", "SeasonalNaive", "Theta")

    def __init__(self) -> None:
        self.library = pytest.importorskip("statsforecast", reason="statsforecast is not installed: pip install truecast[nixtla]")

    def made(self, frame: Any) -> Any:
        from statsforecast.models import Naive, SeasonalNaive, Theta

        every = "D" if isinstance(frame, pd.DataFrame) else "1d"
        return self.library.StatsForecast(models=[Naive(), SeasonalNaive(7), Theta(season_length=7)], freq=every)

    def cross_validation(self, frame: Any) -> Any:
        return self.made(frame).cross_validation(df=frame, h=HORIZON, step_size=1, n_windows=WINDOWS, level=LEVELS)

    def future(self, frame: Any) -> Any:
        return self.made(frame).forecast(df=frame, h=HORIZON, level=LEVELS)


class Mlforecast:
    """Linear regression on lags, with the library's conformal intervals."""

    models = ("lin",)

    def __init__(self) -> None:
        self.library = pytest.importorskip("mlforecast", reason="mlforecast is not installed: pip install truecast[nixtla]")

    def made(self, frame: Any) -> tuple[Any, Any]:
        from mlforecast.utils import PredictionIntervals
        from sklearn.linear_model import LinearRegression

        every = "D" if isinstance(frame, pd.DataFrame) else "1d"
        model = self.library.MLForecast(models={"lin": LinearRegression()}, freq=every, lags=[1, 7])
        return model, PredictionIntervals(n_windows=2, h=HORIZON)

    def cross_validation(self, frame: Any) -> Any:
        model, intervals = self.made(frame)
        return model.cross_validation(frame, h=HORIZON, n_windows=WINDOWS, step_size=1, level=LEVELS, prediction_intervals=intervals)

    def future(self, frame: Any) -> Any:
        model, intervals = self.made(frame)
        return model.fit(frame, prediction_intervals=intervals).predict(HORIZON, level=LEVELS)


@pytest.fixture(params=[Statsforecast, Mlforecast], ids=["statsforecast", "mlforecast"], scope="module")
def library(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(params=["pandas", "polars"], scope="module")
def given(request: pytest.FixtureRequest, series: pd.DataFrame) -> Any:
    return series if request.param == "pandas" else polars(series)


@pytest.fixture(scope="module")
def frame(library: Any, given: Any) -> Any:
    """A real frame of cross-validation."""
    return library.cross_validation(given)


def column(frame: Any, name: str) -> Any:
    return frame[name].to_numpy()


def held(frame: Any, model: str) -> float:
    y = column(frame, "y")
    return float(np.mean((column(frame, f"{model}-lo-80") <= y) & (y <= column(frame, f"{model}-hi-80"))))


def test_frames_are_taken_as_they_come(library: Any, frame: Any) -> None:
    calibrated = nixtla.calibrate(frame)
    assert type(calibrated) is type(frame) and list(calibrated.columns) == list(frame.columns)
    for model in library.models:
        # Six streams of 60 outcomes, each up to three days late: the guard's budget for an interval is 2·(2√(0.09·85) + 1)/60 + 2·2/60 = 0.28.
        assert abs(held(calibrated, model) - 0.8) < 0.28
        assert (column(calibrated, f"{model}-lo-95") <= column(calibrated, f"{model}-lo-80")).all()
        alone = nixtla.calibrate(frame, models=[model])
        np.testing.assert_array_equal(column(alone, f"{model}-hi-95"), column(calibrated, f"{model}-hi-95"))


def test_whole_frames_know_what_was_known_at_the_cutoff(library: Any, frame: Any) -> None:
    """`tc.calibrate` with the frame's own times is the adapter without its split by horizon."""
    for model in library.models:
        whole = tc.calibrate(frame, model=model)
        adapter = nixtla.calibrate(frame, models=[model], by_horizon=False)
        assert type(whole) is type(frame) and list(whole.columns) == list(frame.columns)
        for end in ("lo-80", "hi-80", "lo-95", "hi-95"):
            # Both ask for the same quantile, one by 0.025 and the other by 0.95: 1e-16 apart, which a steep map makes 1e-9 of the outcome.
            np.testing.assert_allclose(column(whole, f"{model}-{end}"), column(adapter, f"{model}-{end}"), rtol=1e-7)
        summary = tc.evaluate(frame, model=model)
        assert summary.rows == len(frame) and summary.coverage["0.8"].raw == pytest.approx(held(frame, model), abs=1e-12)
        assert tc.compare(frame, model=model, methods=["ledger"])["ledger"].rows == len(frame)


def test_several_models_are_a_question(library: Any, frame: Any) -> None:
    if len(library.models) > 1:
        with pytest.raises(tc.errors.ColumnsError, match='choose with model="Naive"'):
            tc.calibrate(frame)
    else:
        np.testing.assert_array_equal(column(tc.calibrate(frame), "lin-lo-80"), column(tc.calibrate(frame, model="lin"), "lin-lo-80"))


def test_the_future_is_calibrated_by_the_past(library: Any, given: Any, frame: Any) -> None:
    future = library.future(given)
    calibrated = nixtla.calibrate(future, history=frame)
    assert type(calibrated) is type(future) and list(calibrated.columns) == list(future.columns)
    for model in library.models:
        assert np.isfinite(column(calibrated, f"{model}-hi-80")).all()
        assert (column(calibrated, f"{model}-hi-80") != column(future, f"{model}-hi-80")).all()


def test_points_get_intervals(library: Any, frame: Any) -> None:
    model = library.models[0]
    points = frame[["unique_id", "ds", "cutoff", "y", model]]
    assert abs(held(nixtla.calibrate(points, models=[model]), model) - 0.8) < 0.28
    whole = tc.calibrate(points, point=model, coverage=0.8)
    y = column(whole, "y")
    assert abs(np.mean((column(whole, "lo-80") <= y) & (y <= column(whole, "hi-80"))) - 0.8) < 0.28
