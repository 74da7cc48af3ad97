"""Time told truthfully, in frames: no forecast knows an outcome before it was known, and weekly calls are one call."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import truecast as tc

HUB = Path(__file__).parents[2] / "crates/truecast-events/tests/hub"
DAYS, AHEAD = 6, 3
START = np.datetime64("2026-01-01")

# For each forecast its series, the day on which it was made, and the day that it is about.
FORECASTS = [(s, made, made + ahead) for s in ("01", "1") for made in range(DAYS) for ahead in range(1, AHEAD + 1)]


def outcomes() -> dict[tuple[str, int], float]:
    return {(s, day): (0.3 + 0.1 * k) * (1.0 + day * 7 % 5) for k, s in enumerate(("01", "1")) for day in range(1, DAYS + AHEAD + 1)}


def windows(known: dict[tuple[str, int], float]) -> tuple[Any, Any]:
    """Cross-validation of Nixtla, typed dates."""
    rows = {
        "unique_id": [s for s, _, _ in FORECASTS],
        "ds": [START + about for _, _, about in FORECASTS],
        "cutoff": [START + made for _, made, _ in FORECASTS],
        "y": [known[s, about] for s, _, about in FORECASTS],
        "ETS-lo-80": -1.0,
        "ETS": 0.0,
        "ETS-hi-80": 1.0,
    }
    return pd.DataFrame(rows), None


def wide(known: dict[tuple[str, int], float]) -> tuple[Any, Any]:
    """A table with outcomes of their own."""
    frame = {
        "key": [s for s, _, _ in FORECASTS],
        "made_at": np.array([float(made) for _, made, _ in FORECASTS]),
        "t": np.array([float(about) for _, _, about in FORECASTS]),
        "mean": np.zeros(len(FORECASTS)),
        "std": np.ones(len(FORECASTS)),
    }
    table = {"key": [s for s, _ in known], "t": [float(day) for _, day in known], "y": list(known.values())}
    return frame, table


def hub(known: dict[tuple[str, int], float]) -> tuple[Any, Any]:
    """A hub, with its truth."""
    rows = [
        {
            "location": s,
            "reference_date": str(START + made),
            "horizon": about - made,
            "target_end_date": str(START + about),
            "output_type": "quantile",
            "output_type_id": p,
            "value": value,
        }
        for s, made, about in FORECASTS
        for p, value in ((0.1, -1.0), (0.5, 0.0), (0.9, 1.0))
    ]
    table = [{"date": START + day, "location": s, "location_name": f"place {s}", "value": y} for (s, day), y in known.items()]
    return pl.DataFrame(rows), pd.DataFrame(table)


@pytest.mark.parametrize(
    ("form", "asked", "late", "rows"),
    [
        (windows, {}, 0, 1),
        (windows, {"key": (), "horizon": "none"}, 0, 1),
        (wide, {"lag": 2}, 2, 1),
        (hub, {}, 1, 3),
        (hub, {"key": "location", "horizon": "none", "lag": "2d"}, 3, 3),
    ],
)
def test_no_forecast_knows_an_outcome_before_it_was_known(form: Callable[..., tuple[Any, Any]], asked: dict[str, Any], late: int, rows: int) -> None:
    def run(known: dict[tuple[str, int], float]) -> Any:
        frame, table = form(known)
        out = tc.calibrate(frame, outcomes=table, **asked)
        names = [name for name in ("mean", "std", "value", "ETS-lo-80", "ETS", "ETS-hi-80") if name in list(getattr(out, "columns", out))]
        return np.column_stack([np.asarray(out[name], dtype=np.float64) for name in names])

    usual, moved = run(outcomes()), 0
    for s, day in outcomes():
        after = run({**outcomes(), (s, day): 41.0})
        made = np.repeat([made for _, made, _ in FORECASTS], rows)
        assert np.array_equal(after[made < day + late], usual[made < day + late]), (s, day)
        moved += int((after != usual).any())
    assert moved > 0


@pytest.mark.parametrize("revisions", ["first", "last"])
def test_weekly_calls_are_the_commands_one_run(truecast: str, tmp_path: Path, revisions: Any) -> None:
    truth = pd.read_csv(HUB / "target-data/target.csv", dtype={"location": str})
    files = sorted((HUB / "model-output/TEAM-model").iterdir())
    text = {"location": str, "output_type_id": str, "horizon": str}
    fleet, weeks = tc.Fleet(timed=True), []
    for file in files:
        week = pd.read_csv(file, dtype=text, keep_default_na=False, float_precision="round_trip")
        published = truth[truth["as_of"] < file.name[:10]]
        weeks.append(tc.calibrate(week, outcomes=published, revisions=revisions, fleet=fleet))
    command = [truecast, "calibrate", str(files[0].parent), "--outcomes", str(HUB / "target-data/target.csv"), "--revisions", revisions]
    subprocess.run([*command, "--state", str(tmp_path / "s"), "-o", str(tmp_path / "out.csv")], check=True, capture_output=True)
    answered = pd.read_csv(tmp_path / "out.csv", dtype=text, keep_default_na=False, float_precision="round_trip")
    assert pd.concat(weeks)["value"].to_list() == answered["value"].to_list()
    waiting = fleet.open
    booked = tc.resolve(fleet, truth, revisions=revisions)
    assert booked.booked == waiting - fleet.open and fleet.to_bytes() == (tmp_path / "s").read_bytes()


def test_a_fleet_issues_and_resolves_by_what_forecasts_are_about() -> None:
    fleet, stream = tc.Fleet(), tc.Stream()
    for day, y in enumerate([3.0, -2.0, 5.0, 1.0]):
        forecast = tc.Gaussian(0.5 * day, 1.0)
        issued = fleet.issue("kettle", day, forecast)
        ticket, expected = stream.issue(forecast)
        assert issued == expected == fleet.issue("kettle", day, forecast) and fleet.open == 1
        with pytest.raises(tc.TruecastError, match="another forecast about the same waits"):
            fleet.issue("kettle", day, tc.Gaussian(9.0, 1.0))
        assert fleet.resolve(day, y) == 1 and fleet.resolve(day, y, key="kettle") == 0
        stream.resolve(ticket, y)
    points = [tc.Point(1.0), tc.Point(2.0)]
    loop, batch = tc.Fleet(), tc.Fleet()
    for key, point in zip("ab", points, strict=True):
        loop.issue(key, "tomorrow", point)
    batch.run(["a", "b"], tc.Forecasts.points([1.0, 2.0]), about=["tomorrow", "tomorrow"])
    assert loop.to_bytes() == batch.to_bytes() and loop.resolve("tomorrow", 4.0) == batch.resolve("tomorrow", 4.0) == 2
    assert loop.to_bytes() == batch.to_bytes() and tc.Fleet.from_bytes(loop.to_bytes()).to_bytes() == loop.to_bytes()
    timed = tc.Fleet(timed=True)
    timed.issue("a", "x", tc.Gaussian(0.0, 1.0), made=1.0)
    assert (timed.expire(1.0), timed.expire(2.0), timed.open) == (0, 1, 0)


def test_bounds_and_words() -> None:
    frame = {"y": np.array([0.0, 9.0, 1.0, 0.0, 6.0] * 12), "q0.1": np.full(60, 0.5), "q0.5": np.full(60, 1.5), "q0.9": np.full(60, 2.5)}
    free, bound = tc.calibrate(frame), tc.calibrate(frame, bounds=(0.0, None))
    assert np.min(free["q0.1"]) < 0.0
    for name in ("q0.1", "q0.5", "q0.9"):
        assert np.array_equal(np.maximum(free[name], 0.0), bound[name])
    with pytest.raises(tc.TruecastError, match="bounds of the outcome must increase"):
        tc.calibrate(frame, bounds=(1.0, 0.0))
    with pytest.raises(tc.TruecastError, match="outcomes of this frame are known at the times that rows say, and the fleet takes them before the next row"):
        tc.calibrate(windows(outcomes())[0], fleet=tc.Fleet())
