"""Frames of statsforecast: one that it made (data/nixtla.py), points, the future, polars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import truecast as tc
from truecast import nixtla

FRAME = Path(__file__).parent / "data" / "nixtla_cross_validation.csv"


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.read_csv(FRAME, parse_dates=["ds", "cutoff"])


def held(frame: pd.DataFrame, model: str, level: int = 80) -> pd.Series[float]:
    inside = (frame[f"{model}-lo-{level}"] <= frame["y"]) & (frame["y"] <= frame[f"{model}-hi-{level}"])
    return inside.astype(float).groupby(frame["unique_id"]).mean()


def test_intervals_become_honest(frame: pd.DataFrame) -> None:
    calibrated = nixtla.calibrate(frame)
    assert list(calibrated.columns) == list(frame.columns)
    for column in ("unique_id", "ds", "cutoff", "y"):
        assert calibrated[column].equals(frame[column])
    # Naive intervals hold 92 % of the quiet series and 62 % of the seasonal one. Each horizon of a series has 200 outcomes: the guard's
    # budget is 2·(2√(0.09·225) + 1)/200 = 0.100, and three horizons average no worse; outcomes are up to three days late, which adds 2·2/200.
    assert (abs(held(frame, "Naive") - 0.8) > 0.1).any()
    assert (abs(held(calibrated, "Naive") - 0.8) < 0.12).all()
    assert (calibrated["Naive-lo-95"] <= calibrated["Naive-lo-80"]).all()
    assert (calibrated["Naive-hi-80"] <= calibrated["Naive-hi-95"]).all()


def test_rows_know_what_was_known_at_their_cutoff(frame: pd.DataFrame) -> None:
    """The same numbers from a stream of one series and one horizon, forecast by forecast."""
    calibrated = nixtla.calibrate(frame, models=["Naive"])
    mine = (frame["unique_id"] == "milk") & ((frame["ds"] - frame["cutoff"]).dt.days == 3)
    stream = tc.Stream()
    waiting: list[tuple[pd.Timestamp, int, float]] = []
    for index, row in frame[mine].iterrows():
        for due, ticket, y in [late for late in waiting if late[0] <= row["cutoff"]]:
            stream.resolve(ticket, y)
            waiting.remove((due, ticket, y))
        values = [row[f"Naive-lo-{p}"] for p in (95, 80)] + [row["Naive"]] + [row[f"Naive-hi-{p}"] for p in (80, 95)]
        ticket, honest = stream.issue(tc.Quantiles([0.025, 0.1, 0.5, 0.9, 0.975], values))
        waiting.append((row["ds"], ticket, row["y"]))
        low, high = honest.interval(0.8)
        assert calibrated.loc[index, "Naive-lo-80"] == pytest.approx(low, rel=1e-12)
        assert calibrated.loc[index, "Naive-hi-80"] == pytest.approx(high, rel=1e-12)
        assert calibrated.loc[index, "Naive"] == pytest.approx(honest.median(), rel=1e-12)
    assert stream.steps == 200 - 3
    # The other model is as it was.
    assert calibrated["SeasonalNaive-lo-80"].equals(frame["SeasonalNaive-lo-80"])


def test_a_later_outcome_changes_nothing_before_it(frame: pd.DataFrame) -> None:
    changed = frame.copy()
    day = pd.Timestamp(frame["ds"].iloc[300])
    changed.loc[changed["ds"] >= day, "y"] += 100.0
    before = frame["cutoff"] < day
    one, other = nixtla.calibrate(frame), nixtla.calibrate(changed)
    assert one.loc[before, "Naive-lo-80"].equals(other.loc[before, "Naive-lo-80"])
    assert not one.loc[~before, "Naive-lo-80"].equals(other.loc[~before, "Naive-lo-80"])


def test_the_future_is_calibrated_by_the_past(frame: pd.DataFrame) -> None:
    """What `forecast` gives has neither outcomes nor cutoff: it is the last window of cross-validation without them."""
    last = frame["cutoff"] == frame["cutoff"].max()
    future = frame[last].drop(columns=["y", "cutoff"])
    calibrated = nixtla.calibrate(future, history=frame[~last])
    assert list(calibrated.columns) == list(future.columns) and (calibrated.index == future.index).all()
    # The window before it is settled by then, its last days excepted: as of the cutoff that the future has.
    as_of = nixtla.calibrate(frame)[last]
    one_day_ahead = as_of.groupby("unique_id").head(1).index
    assert np.allclose(calibrated.loc[one_day_ahead, "Naive-hi-80"], as_of.loc[one_day_ahead, "Naive-hi-80"], rtol=1e-12)
    assert (calibrated["Naive-hi-80"] != future["Naive-hi-80"]).all()


def test_points_get_intervals(frame: pd.DataFrame) -> None:
    points = frame[["unique_id", "ds", "cutoff", "y", "Naive"]]
    calibrated = nixtla.calibrate(points, models=["Naive"])
    assert list(calibrated.columns) == [*points.columns, "Naive-lo-80", "Naive-hi-80", "Naive-lo-95", "Naive-hi-95"]
    assert (abs(held(calibrated, "Naive") - 0.8) < 0.12).all()
    assert "Naive-lo-90" in nixtla.calibrate(points, models=["Naive"], level=[90]).columns


def test_polars_is_the_same(frame: pd.DataFrame) -> None:
    calibrated = nixtla.calibrate(pl.read_csv(FRAME, try_parse_dates=True))
    assert isinstance(calibrated, pl.DataFrame) and calibrated.columns == list(frame.columns)
    assert (calibrated["Naive-lo-80"].to_numpy() == nixtla.calibrate(frame)["Naive-lo-80"].to_numpy()).all()


def test_rows_may_come_in_any_order(frame: pd.DataFrame) -> None:
    shuffled = frame.sample(frac=1.0, random_state=0)
    again = nixtla.calibrate(shuffled).sort_index()
    assert again["Naive-lo-80"].equals(nixtla.calibrate(frame)["Naive-lo-80"])


def test_other_names_pooled_horizons_and_no_cutoff(frame: pd.DataFrame) -> None:
    one = frame[(frame["ds"] - frame["cutoff"]).dt.days == 1].drop(columns="cutoff")
    renamed = one.rename(columns={"unique_id": "id", "ds": "day", "y": "target"})
    other = nixtla.calibrate(renamed, id_col="id", time_col="day", target_col="target", by_horizon=False)
    assert other["Naive-lo-80"].equals(nixtla.calibrate(one)["Naive-lo-80"])
    tea = one[one["unique_id"] == "tea"]
    rc = tc.Recalibrator()
    probabilities = [0.025, 0.1, 0.5, 0.9, 0.975]
    run = rc.run(tc.Forecasts.quantiles(probabilities, tea[["Naive-lo-95", "Naive-lo-80", "Naive", "Naive-hi-80", "Naive-hi-95"]].to_numpy()), tea["y"].to_numpy(), coverage=0.8)  # fmt: skip
    assert run.lower is not None
    assert np.allclose(nixtla.calibrate(one).loc[tea.index, "Naive-lo-80"], run.lower, rtol=1e-12)


def test_wrong_frames_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no columns like Model-lo-80"):
        nixtla.calibrate(frame[["unique_id", "ds", "y", "Naive"]])
    with pytest.raises(ValueError, match="there is no model 'Theta'"):
        nixtla.calibrate(frame, models=["Theta"])
    with pytest.raises(ValueError, match="there is no column 'unique_id'"):
        nixtla.calibrate(frame.rename(columns={"unique_id": "id"}))
