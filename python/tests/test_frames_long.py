"""Forecasts over several rows, outcomes in a frame of their own, rows that are left out: the command's numbers, bit for bit."""

from __future__ import annotations

import csv
import json
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import truecast as tc
from truecast import errors

Columns = dict[str, list[Any]]
KINDS = ("pandas", "polars", "pyarrow", "batch", "dict", "structured")
QUANTILES = (0.005, 0.025, 0.165, 0.25, 0.5, 0.75, 0.835, 0.975, 0.995)


def make(kind: str, columns: Columns) -> Any:
    match kind:
        case "pandas":
            return pd.DataFrame(columns)
        case "polars":
            return pl.DataFrame(columns, strict=False)
        case "pyarrow":
            return pa.table(columns)
        case "batch":
            return pa.record_batch(columns)
        case "dict":
            return dict(columns)
        case _:
            arrays = {name: np.asarray(values) for name, values in columns.items()}
            out = np.empty(len(next(iter(arrays.values()))), dtype=[(name, values.dtype) for name, values in arrays.items()])
            for name, values in arrays.items():
                out[name] = values
            return out


def columns_of(frame: Any) -> Columns:
    if isinstance(frame, pd.DataFrame):
        return {str(name): frame[name].tolist() for name in frame.columns}
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    if isinstance(frame, (pa.Table, pa.RecordBatch)):
        found: Columns = frame.to_pydict()
        return found
    names = list(frame) if isinstance(frame, dict) else list(frame.dtype.names)
    return {name: np.asarray(frame[name]).tolist() for name in names}


def write(path: Path, columns: Columns) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if value is None or value != value else repr(value) if isinstance(value, float) else value for value in row])
    return path


def command(truecast: str, folder: Path, columns: Columns, *flags: str, outcomes: Columns | None = None) -> tuple[Columns, str]:
    """What the command makes of the table, cell by cell, and what it says."""
    more = [] if outcomes is None else ["--outcomes", str(write(folder / "outcomes.csv", outcomes))]
    source, answer = write(folder / "in.csv", columns), folder / "out.csv"
    words = [truecast, "calibrate", str(source), "-o", str(answer), "--state", str(folder / "state"), *more, *flags]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    with answer.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return {name: [row[k] for row in rows] for k, name in enumerate(head)}, done.stderr


def evaluated(truecast: str, folder: Path, *flags: str) -> Any:
    words = [truecast, "evaluate", str(folder / "in.csv"), "--summary", str(folder / "s.json"), *flags]
    subprocess.run(words, check=True, capture_output=True)
    return json.loads((folder / "s.json").read_text())


def same(frame: Any, answered: Columns) -> None:
    found = columns_of(frame)
    assert list(found) == list(answered)
    for name, values in found.items():
        for value, cell in zip(values, answered[name], strict=True):
            missing = value is None or value != value
            assert (value == float(cell) if isinstance(value, float) and not missing else ("" if missing else str(value)) == cell), name


def m5(days: int = 28) -> tuple[Columns, Columns, Columns]:
    """Forecasts of three series in both phases, the rows shuffled, and their outcomes in both forms."""
    rng = np.random.default_rng(8)
    forecasts, by_day, by_date = [], [], []
    for series in ("Total_X", "HOBBIES_1_001_CA_1", "CA_FOODS"):
        sold: dict[str, Any] = {"id": f"{series}_evaluation"}
        for phase, first in (("validation", 1914), ("evaluation", 1942)):
            center = rng.normal(100.0, 5.0, days)
            y = center + rng.normal(0.0, 9.0, days)
            for q in QUANTILES:
                spread = 6.0 * (q - 0.5)
                forecasts.append({"id": f"{series}_{q:.3f}_{phase}", **{f"F{d + 1}": float(center[d] + spread) for d in range(days)}})
            by_day.append({"id": f"{series}_{phase}", **{f"F{d + 1}": float(y[d]) if d != 3 else None for d in range(days)}})
            sold.update({f"d_{first + d}": float(y[d]) for d in range(days) if phase == "validation" or d < 20})
        by_date.append(sold)
    rng.shuffle(forecasts)
    tabled = [{name: [row[name] for row in rows] for name in rows[0]} for rows in (forecasts, by_day, by_date)]
    return tabled[0], tabled[1], tabled[2]


@pytest.mark.parametrize("dated", [False, True])
def test_m5_rows_are_the_commands(truecast: str, tmp_path: Path, *, dated: bool) -> None:
    forecasts, by_day, by_date = m5()
    outcomes = by_date if dated else by_day
    answered, _ = command(truecast, tmp_path, forecasts, outcomes=outcomes)
    for kind in KINDS:
        fleet = tc.Fleet(timed=True)
        frame = make(kind, forecasts)
        calibrated = tc.calibrate(frame, outcomes=outcomes if kind in ("dict", "structured") else make(kind, outcomes), fleet=fleet)
        assert type(calibrated) is type(frame)
        same(calibrated, answered)
        assert fleet.to_bytes() == (tmp_path / "state").read_bytes()
    assert fleet.keys == list(dict.fromkeys(name.rsplit("_", 2)[0] for name in forecasts["id"]))
    assert tc.evaluate(forecasts, outcomes=outcomes).to_dict() == evaluated(truecast, tmp_path, "--outcomes", str(tmp_path / "outcomes.csv"))
    # Calibrated quantiles never cross.
    table = pd.DataFrame(tc.calibrate(forecasts, outcomes=outcomes)).set_index("id")
    for series in ("Total_X", "CA_FOODS"):
        rows = table.loc[[f"{series}_{q:.3f}_evaluation" for q in QUANTILES]].to_numpy()
        assert (np.diff(rows, axis=0) >= 0.0).all() and (np.diff(rows[:, -1]) != 6.0 * np.diff(QUANTILES)).any()


def test_m5_without_outcomes_stays_as_it_is() -> None:
    forecasts, by_day, _ = m5()
    same(tc.calibrate(make("pandas", forecasts)), {name: [repr(v) if isinstance(v, float) else v for v in values] for name, values in forecasts.items()})
    with pytest.raises(errors.NoOutcomesError):
        tc.evaluate(forecasts)
    with pytest.raises(errors.ColumnsError, match="there is no column id"):
        tc.calibrate(forecasts, outcomes={"F1": [1.0]})
    with pytest.raises(errors.ColumnsError, match="there are no columns of days"):
        tc.calibrate(forecasts, outcomes={"id": ["Total_X"]})
    with pytest.raises(errors.CellError, match='row 0 of the outcomes: column F2: must be a finite number, got "inf"'):
        tc.calibrate(forecasts, outcomes={**by_day, "F2": [np.inf] * 6})
    with pytest.raises(errors.SettingError, match="come out with the quantiles"):
        tc.calibrate(forecasts, outcomes=by_day, coverage=0.8)


def test_m5_rows_that_are_left_out_are_the_commands(truecast: str, tmp_path: Path) -> None:
    forecasts, by_day, _ = m5()
    forecasts["id"][3] = "Total_X_nonsense"
    forecasts["id"][7] = "Total_X_1.5_validation"
    forecasts["F5"][11] = np.nan
    with pytest.raises(errors.CellError, match='row 3: column id: must be a series, a probability and .*, got "Total_X_nonsense"'):
        tc.calibrate(forecasts, outcomes=by_day)
    answered, said = command(truecast, tmp_path, forecasts, "--on-error", "skip", outcomes=by_day)
    assert "3 rows were left out" in said
    with pytest.warns(errors.SkippedRowsWarning, match="3 rows were left out\n  row 3: column id: ") as caught:
        calibrated = tc.calibrate(make("pandas", forecasts), outcomes=by_day, on_error="skip")
    same(calibrated, answered)
    warning = caught[0].message
    assert isinstance(warning, errors.SkippedRowsWarning)
    assert warning.count == 3 and [row for row, _ in warning.refused] == [3, 7, 11]
    assert isinstance(warning.refused[2][1], errors.CellError)
    assert caught[0].filename == __file__


def hub(days: int = 30) -> tuple[Columns, Columns]:
    """A hub's forecasts, shuffled, and its oracle output."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    oracle: list[dict[str, Any]] = []
    for day in range(days):
        for place in ("DE", "FR"):
            center = rng.normal(100.0, 5.0)
            made, due = (str(np.datetime64("2026-01-01") + 7 * day + late) for late in (0, 6))
            base = {"location": place, "reference_date": made, "target_end_date": due}
            parts = [("quantile", "0.1", -5.0), ("quantile", "0.5", 0.0), ("quantile", "0.9", 5.0), ("mean", "", 0.0), ("pmf", "high", 0.25)]
            for kind, identifier, value in parts:
                rows.append({**base, "output_type": kind, "output_type_id": identifier, "value": value + (center if kind != "pmf" else 0.0)})
            y = center + rng.normal(0.0, 9.0) if day != 4 else None
            oracle.append({"location": place, "target_end_date": due, "output_type": "quantile", "oracle_value": y})
            oracle.append({"location": place, "target_end_date": due, "output_type": "pmf", "oracle_value": 1.0})
    rng.shuffle(rows)
    return {name: [row[name] for row in rows] for name in rows[0]}, {name: [row[name] for row in oracle] for name in oracle[0]}


def test_outcomes_of_a_hub_in_a_frame_of_their_own(truecast: str, tmp_path: Path) -> None:
    forecasts, oracle = hub()
    answered, _ = command(truecast, tmp_path, forecasts, outcomes=oracle)
    for kind in ("pandas", "polars", "pyarrow", "dict"):
        fleet = tc.Fleet(timed=True)
        same(tc.calibrate(make(kind, forecasts), outcomes=make(kind, oracle), fleet=fleet), answered)
        assert fleet.to_bytes() == (tmp_path / "state").read_bytes()
    assert tc.evaluate(forecasts, outcomes=oracle).to_dict() == evaluated(truecast, tmp_path, "--outcomes", str(tmp_path / "outcomes.csv"))
    # Dates may be dates on one side and texts on the other.
    dates = pd.DataFrame(oracle)
    dates["target_end_date"] = pd.to_datetime(dates["target_end_date"])
    same(tc.calibrate(make("pandas", forecasts), outcomes=dates), answered)
    # Outcomes of a hub's time series have another name, and may hold more than is asked.
    series = dates[dates["output_type"] == "quantile"].drop(columns="output_type").rename(columns={"oracle_value": "observation"})
    same(tc.calibrate(make("pandas", forecasts), outcomes=series.assign(source="office")), answered)


def test_outcomes_that_belong_nowhere_are_refused() -> None:
    forecasts, oracle = hub(4)
    with pytest.raises(errors.ColumnsError, match="no column says which forecast an outcome belongs to"):
        tc.calibrate(forecasts, outcomes={"oracle_value": [1.0]})
    with pytest.raises(errors.ColumnsError, match="no column is known to hold the outcome: location, sales"):
        tc.calibrate(forecasts, outcomes={"location": ["DE"], "sales": [1.0]})
    twice = {name: [*values, values[0]] for name, values in oracle.items()}
    tc.calibrate(forecasts, outcomes=twice)
    twice["oracle_value"][-1] = 3.0
    with pytest.raises(errors.CellError, match="row 16 of the outcomes: a second outcome for the same location, target_end_date") as caught:
        tc.calibrate(forecasts, outcomes=twice)
    assert caught.value.row == 16
    with pytest.raises(errors.ColumnsError, match="no column says which forecast"):
        tc.calibrate({"mean": [1.0], "std": [1.0]}, outcomes=oracle)


def test_rows_of_a_hub_that_are_left_out_are_the_commands(truecast: str, tmp_path: Path) -> None:
    forecasts, oracle = hub()
    forecasts["oracle_value"] = [None] * len(forecasts["value"])
    for row in range(len(forecasts["value"])):
        place, due = forecasts["location"][row], forecasts["target_end_date"][row]
        at = next(at for at in range(0, len(oracle["location"]), 2) if (oracle["location"][at], oracle["target_end_date"][at]) == (place, due))
        forecasts["oracle_value"][row] = oracle["oracle_value"][at]
    bad = [row for row, kind in enumerate(forecasts["output_type"]) if kind == "quantile"]
    forecasts["output_type_id"][bad[0]] = "high"
    forecasts["output_type_id"][bad[1]] = "1.5"
    forecasts["value"][bad[2]] = np.nan
    forecasts["value"][bad[3]] = np.inf
    forecasts["reference_date"][bad[4]] = "someday"
    forecasts["oracle_value"][bad[5]] = np.inf
    # All parts but one of a forecast: what is left is none.
    alone = (forecasts["location"][bad[20]], forecasts["reference_date"][bad[20]])
    parts = [row for row in range(len(forecasts["value"])) if (forecasts["location"][row], forecasts["reference_date"][row]) == alone]
    for row in [row for row in parts if forecasts["output_type"][row] == "quantile"][1:]:
        forecasts["value"][row] = np.nan
    answered, said = command(truecast, tmp_path, forecasts, "--on-error", "skip")
    with pytest.warns(errors.SkippedRowsWarning) as caught:
        same(tc.calibrate(make("dict", forecasts), on_error="skip"), answered)
    warning = caught[0].message
    assert isinstance(warning, errors.SkippedRowsWarning)
    assert f"{warning.count} rows were left out" in said and str(warning).splitlines()[-1] == f"  and {warning.count - 5} more"
    with pytest.warns(errors.SkippedRowsWarning):
        summary = tc.evaluate(forecasts, on_error="skip")
    assert summary.to_dict() == evaluated(truecast, tmp_path, "--on-error", "skip")


def test_forecasts_of_a_hub_are_what_the_columns_say(truecast: str, tmp_path: Path) -> None:
    """Several models on one key once became one forecast; an outcome was taken from a forecast's first row alone."""
    rows = [
        {"model_id": model, "location": "DE", "horizon": step, "output_type": "quantile", "output_type_id": p, "value": step + k + p, "y": step + 1.0 if p == 0.9 else None}
        for step in range(20)
        for k, model in enumerate(("a", "b"))
        for p in (0.1, 0.5, 0.9)
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    answered, _ = command(truecast, tmp_path, columns, "--key", "location", "--horizon", "none")
    same(tc.calibrate(columns, key="location", horizon="none"), answered)
    columns["y"][0] = 7.0
    with pytest.raises(errors.CellError, match="^row 2: column y: the forecast's rows before this one have another outcome, got"):
        tc.calibrate(columns, key="location", horizon="none")


def wide() -> Columns:
    rng = np.random.default_rng(5)
    mu, y = rng.normal(50.0, 20.0, 120), rng.normal(50.0, 20.0, 120)
    columns: Columns = {"unique_id": [f"k{k}" for k in rng.integers(0, 3, 120)], "mean": mu.tolist(), "std": [2.0] * 120, "y": y.tolist()}
    columns["std"][4], columns["std"][9], columns["mean"][17], columns["y"][23] = -1.0, -0.5, np.nan, np.inf
    columns["y"][31] = np.nan  # nobody's fault
    return columns


def test_rows_that_break_a_rule_are_left_out_as_by_the_command(truecast: str, tmp_path: Path) -> None:
    columns = wide()
    answered, said = command(truecast, tmp_path, columns, "--on-error", "skip", "--scores", "--intervals", "80")
    assert "4 rows were left out" in said
    for kind in KINDS:
        fleet, frame = tc.Fleet(), make(kind, columns)
        with pytest.warns(errors.SkippedRowsWarning, match="^4 rows were left out\n  row 4: column std: must not be negative"):
            calibrated = tc.calibrate(frame, on_error="skip", scores=True, coverage=0.8, fleet=fleet)
        assert type(calibrated) is type(frame)
        same(calibrated, answered)
        assert fleet.to_bytes() == (tmp_path / "state").read_bytes()
    with pytest.warns(errors.SkippedRowsWarning):
        assert tc.evaluate(columns, on_error="skip").to_dict() == evaluated(truecast, tmp_path, "--on-error", "skip")
    with pytest.warns(errors.SkippedRowsWarning) as caught:
        comparison = tc.compare(columns, methods=["ledger", "aci"], on_error="skip")
    assert len(caught) == 1 and comparison["ledger"].rows == 115
    # The index says which rows are left.
    with pytest.warns(errors.SkippedRowsWarning):
        assert not set(tc.calibrate(make("pandas", columns), on_error="skip").index) & {4, 9, 17, 23}


def test_cells_that_cannot_be_read_are_left_out_as_by_the_command(truecast: str, tmp_path: Path) -> None:
    columns = wide()
    columns["mean"][2], columns["y"][6] = "twelve", "?"
    columns["made_at"] = [float(row) for row in range(120)]
    columns["made_at"][12] = "someday"
    columns["outcome_time"] = [row + 2.0 for row in range(120)]
    columns["outcome_time"][13] = "never"
    answered, said = command(truecast, tmp_path, columns, "--on-error", "skip")
    assert "8 rows were left out" in said
    frame = pd.DataFrame({name: pd.Series(values, dtype=object if name in ("mean", "y", "made_at", "outcome_time") else None) for name, values in columns.items()})
    fleet = tc.Fleet(timed=True)
    with pytest.warns(errors.SkippedRowsWarning, match="row 2: column mean: must be a number, got \"twelve\"") as caught:
        calibrated = tc.calibrate(frame, on_error="skip", fleet=fleet)
    found, expected = columns_of(calibrated), answered
    for name in ("mean", "std"):
        assert found[name] == [float(cell) for cell in expected[name]]
    assert fleet.to_bytes() == (tmp_path / "state").read_bytes()
    warning = caught[0].message
    assert isinstance(warning, errors.SkippedRowsWarning)
    assert [row for row, _ in warning.refused] == [2, 4, 6, 9, 12, 13, 17, 23]
    with pytest.raises(errors.CellError, match="row 6: column y"):
        tc.calibrate(frame)


def test_nothing_is_said_when_nothing_is_left_out() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tc.calibrate({"mean": [1.0], "std": [1.0], "y": [2.0]}, on_error="skip")
    with pytest.raises(errors.SettingError, match='on_error is "fail" or "skip", not \'ignore\''):
        tc.calibrate({"mean": [1.0], "std": [1.0]}, on_error="ignore")  # type: ignore[arg-type]
