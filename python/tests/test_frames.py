"""Frames in, frames out: the command's numbers, whatever the kind of frame."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import truecast as tc
from truecast import errors, tables

KINDS = ("pandas", "polars", "pyarrow", "batch", "dict", "structured")


def table(form: str, count: int = 240) -> dict[str, Any]:
    """A table of each form: several series, some outcomes missing."""
    rng = np.random.default_rng(5)
    mu, sigma = rng.normal(50.0, 20.0, count), rng.lognormal(0.0, 0.7, count)
    y = mu + 1.7 * sigma * rng.standard_t(3.0, count) + 0.4 * sigma
    y[rng.random(count) < 0.1] = np.nan
    members = np.sort(mu[:, None] + sigma[:, None] * rng.normal(size=(count, 5)), axis=1)
    keys = [f"k{key}" for key in rng.integers(0, 3, count)]
    match form:
        case "gaussian":
            forecast = {"mean": mu, "std": sigma}
        case "variance":
            forecast = {"mu": mu, "variance": sigma**2}
        case "quantiles":
            forecast = {f"q{q}": members[:, k] for k, q in enumerate((0.05, 0.25, 0.5, 0.75, 0.95))}
        case "nixtla":
            forecast = {"ETS": members[:, 2], "ETS-lo-80": members[:, 1], "ETS-hi-80": members[:, 3]}
        case "samples":
            forecast = {f"sample_{k}": rng.permuted(members, axis=1)[:, k] for k in range(5)}
        case "openstef":
            forecast = {"forecast": members[:, 2], **{f"quantile_P{p}": members[:, k] for k, p in ((0, 10), (2, 50), (4, 90))}}
        case _:
            forecast = {"yhat": mu}
    outcome = "realised" if form == "openstef" else "y"
    return {"unique_id": keys, "ds": np.arange(count), outcome: y, "note": [f"n{k % 4}" for k in range(count)], **forecast}


FORMS = ("gaussian", "variance", "quantiles", "nixtla", "samples", "openstef", "point")


def make(kind: str, columns: dict[str, Any]) -> Any:
    """The table as a frame of some kind."""
    match kind:
        case "pandas":
            return pd.DataFrame(columns, index=pd.Index(np.arange(len(columns["ds"])) * 7))
        case "polars":
            return pl.DataFrame(columns, nan_to_null=True)
        case "pyarrow":
            return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
        case "batch":
            return pa.record_batch({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
        case "dict":
            return dict(columns)
        case _:
            arrays = {name: np.asarray(values) for name, values in columns.items()}
            out = np.empty(len(columns["ds"]), dtype=[(name, values.dtype) for name, values in arrays.items()])
            for name, values in arrays.items():
                out[name] = values
            return out


def columns_of(frame: Any) -> dict[str, list[Any]]:
    """Columns as lists, missing numbers as None."""
    if isinstance(frame, pd.DataFrame):
        found = {name: frame[name].tolist() for name in frame.columns}
    elif isinstance(frame, pl.DataFrame):
        found = frame.to_dict(as_series=False)
    elif isinstance(frame, (pa.Table, pa.RecordBatch)):
        found = frame.to_pydict()
    elif isinstance(frame, dict):
        found = {name: np.asarray(values).tolist() for name, values in frame.items()}
    else:
        found = {name: frame[name].tolist() for name in frame.dtype.names}
    return {name: [None if value != value else value for value in values] for name, values in found.items()}


def command(truecast: str, folder: Path, columns: dict[str, Any], *flags: str, verb: str = "calibrate") -> dict[str, list[str]]:
    """What the command makes of the table, cell by cell."""
    source, answer = folder / "in.csv", folder / "out.csv"
    with source.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        cells = [np.asarray(values).tolist() for values in columns.values()]
        for row in zip(*cells, strict=True):
            writer.writerow(["" if value is None or value != value else repr(value) if isinstance(value, float) else value for value in row])
    out = ["-o", str(answer)] if verb == "calibrate" else []
    subprocess.run([truecast, verb, str(source), *out, *flags], check=True, capture_output=True)
    if verb != "calibrate":
        return {}
    with answer.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return {name: [row[k] for row in rows] for k, name in enumerate(head)}


def same(frame: Any, answered: dict[str, list[str]]) -> None:
    """The frame is what the command wrote, bit for bit."""
    found = columns_of(frame)
    assert list(found) == list(answered)
    for name, values in found.items():
        for value, cell in zip(values, answered[name], strict=True):
            if isinstance(value, float):
                assert value == float(cell), name
            else:
                assert ("" if value is None else str(value)) == cell, name


@pytest.mark.parametrize("form", FORMS)
def test_a_frame_is_the_commands_file(truecast: str, tmp_path: Path, form: str) -> None:
    columns = table(form)
    answered = command(truecast, tmp_path, columns, "--scores", "--state", str(tmp_path / "state"))
    fleet = tc.Fleet()
    same(tc.calibrate(make("pandas", columns), scores=True, fleet=fleet), answered)
    assert fleet.to_bytes() == (tmp_path / "state").read_bytes()


@pytest.mark.parametrize("form", ["gaussian", "quantiles"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_back_as_it_came(truecast: str, tmp_path: Path, kind: str, form: str) -> None:
    columns = table(form)
    answered = command(truecast, tmp_path, columns, "--scores")
    frame = make(kind, columns)
    before = columns_of(frame)
    out = tc.calibrate(frame, scores=True)
    assert type(out) is type(frame)
    same(out, answered)
    assert columns_of(frame) == before
    if kind == "pandas":
        assert out.index.equals(frame.index) and out.dtypes["note"] == frame.dtypes["note"]
    # And what was asked for instead.
    flags = ("--intervals", "55,80,99.5", "--quantiles", "0.9,0.00001,0.5")
    same(tc.calibrate(frame, coverage=[0.8, 0.995, 0.55], q=[0.00001, 0.5, 0.9]), command(truecast, tmp_path, columns, *flags))


@pytest.mark.parametrize(
    ("flags", "keywords"),
    [
        (["--method", "aci"], {"method": "aci"}),
        (["--method", "approachability", "--seed", "9"], {"method": "approachability", "seed": 9}),
        (["--preset", "paper"], {"paper": True}),
        (["--ledger", "group=note", "--threshold", "50"], {"groups": "note", "thresholds": [50.0]}),
        (["--ledger", "group=note:5"], {"groups": {"note": 5}}),
        (["--half-life", "60", "--guard", "off"], {"half_life": 60.0, "guard": "off"}),
        (["--no-lags", "--stop-loss", "0.02", "--prior", "3"], {"lags": False, "stop_loss": 0.02, "prior": 3.0}),
        (["--delay", "3"], {"delay": 3}),
        (["--key", "none"], {"key": ()}),
        (["--key", "unique_id,note,empty"], {"key": ["unique_id", "note", "empty"]}),
        (["--made", "ds", "--known", "due"], {"made": "ds", "known": "due"}),
        (["--made", "ds", "--about", "due", "--lag", "2"], {"made": "ds", "about": "due", "lag": 2}),
    ],
)
def test_settings_are_the_commands_flags(truecast: str, tmp_path: Path, flags: list[str], keywords: dict[str, Any]) -> None:
    columns = table("gaussian")
    columns["due"] = columns["ds"] + 5
    columns["empty"] = [None if k % 5 else "x" for k in range(240)]
    same(tc.calibrate(make("polars", columns), **keywords), command(truecast, tmp_path, columns, *flags))


def test_dates_are_times(truecast: str, tmp_path: Path) -> None:
    columns = table("gaussian", 60)
    days = np.datetime64("2026-01-01") + np.arange(60)
    texts = {**columns, "ds": days.astype(str), "outcome_time": (days + 3).astype(str)}
    answered = command(truecast, tmp_path, texts, "--made", "ds")
    same(tc.calibrate(make("pandas", texts), made="ds"), answered)
    for kind in ("pandas", "polars", "dict"):
        typed = {**columns, "ds": days.astype("datetime64[us]"), "outcome_time": (days + 3).astype("datetime64[us]")}
        out = columns_of(tc.calibrate(make(kind, typed), made="ds"))
        assert [repr(value) for value in out["std"]] == [repr(float(cell)) for cell in answered["std"]], kind
    with pytest.raises(errors.CellError, match="row 1: column cutoff: must be a number or a time such as") as caught:
        tc.calibrate({"cutoff": ["2026-01-01", "soon"], "known_at": [1, 2], "mean": [0.0, 0.0], "std": [1.0, 1.0], "y": [0.0, 0.0]})
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, "cutoff", "soon")


def test_hub_form(truecast: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for day in range(40):
        for place in ("DE", "FR"):
            center, y = rng.normal(100.0, 5.0), 0.0
            y = center + rng.normal(0.0, 9.0)
            base = {
                "location": place,
                "reference_date": str(np.datetime64("2026-01-01") + 7 * day),
                "target_end_date": str(np.datetime64("2026-01-01") + 7 * day + 6),
            }
            for kind, identifier, value in [("quantile", "0.1", -5.0), ("quantile", "0.5", 0.0), ("quantile", "0.9", 5.0), ("mean", "", 0.0), ("pmf", "high", 0.25)]:
                rows.append({**base, "output_type": kind, "output_type_id": identifier, "value": value + (center if kind != "pmf" else 0.0), "oracle_value": y})
    rng.shuffle(rows)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    answered = command(truecast, tmp_path, columns)
    for kind in ("pandas", "pyarrow"):
        source = {**columns, "ds": columns["value"]}
        frame = make(kind, source)
        frame = frame.drop(columns="ds") if kind == "pandas" else frame.drop_columns(["ds"])
        same(tc.calibrate(frame), answered)
    command(truecast, tmp_path, columns, "--summary", str(tmp_path / "s.json"), verb="evaluate")
    assert tc.evaluate(columns).to_dict() == json.loads((tmp_path / "s.json").read_text())
    columns["output_type_id"][0] = "high"
    columns["output_type"][0] = "quantile"
    with pytest.raises(errors.CellError, match='row 0: column output_type_id: .*got "high"'):
        tc.calibrate(columns)
    with pytest.raises(errors.SettingError):
        tc.calibrate(columns, coverage=0.8)


def test_sktime_levels() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(0.0, 3.0, 100)
    ends = {(0.8, "lower"): -1.0, (0.8, "upper"): 1.0, (0.95, "lower"): -2.0, (0.95, "upper"): 2.0}
    frame = pd.DataFrame(
        np.tile(list(ends.values()), (100, 1)),
        columns=pd.MultiIndex.from_tuples([("sales", *end) for end in ends]),
        index=pd.period_range("2026-01", periods=100, freq="M"),
    )
    out = tc.calibrate(frame, outcome=pd.Series(y))
    assert out.columns.equals(frame.columns) and out.index.equals(frame.index)
    plain = tc.calibrate({"lo-80": np.full(100, -1.0), "hi-80": np.full(100, 1.0), "lo-95": np.full(100, -2.0), "hi-95": np.full(100, 2.0), "y": y})
    assert out["sales", 0.8, "lower"].tolist() == plain["lo-80"].tolist()
    assert out["sales", 0.95, "upper"].tolist() == plain["hi-95"].tolist()
    levels = [(name, q) for name in ("sales", "costs") for q in (0.1, 0.9)]
    both = pd.DataFrame(np.tile([-1.0, 1.0, -2.0, 2.0], (100, 1)), columns=pd.MultiIndex.from_tuples(levels))
    one = tc.calibrate(both, outcome=y, model="costs")
    assert one["sales"].equals(both["sales"]) and not one["costs"].equals(both["costs"])
    with pytest.raises(errors.ColumnsError):
        tc.calibrate(both, outcome=y)
    more = tc.calibrate(frame, outcome=y, coverage=0.5)
    assert list(more.columns) == [("lo-50", "", ""), ("hi-50", "", "")]
    assert tc.evaluate(frame, outcome=y).rows == 100


def test_openstef_in_both_forms_is_a_question() -> None:
    columns = {**table("openstef"), "stdev": np.ones(240)}
    with pytest.raises(errors.ColumnsError) as caught:
        tc.calibrate(columns)
    assert "gaussian: forecast, stdev" in str(caught.value) and "quantiles: quantile_P10" in str(caught.value)
    assert caught.value.hint == 'choose with mean="forecast", std="stdev" or form="quantiles"'
    assert list(tc.calibrate(columns, form="quantiles")) == list(columns)


def test_types_are_kept() -> None:
    count = 50
    frame = pd.DataFrame(
        {
            "id": pd.Categorical(["a", "b"] * 25),
            "mean": np.zeros(count, dtype=np.float32),
            "std": pd.array(np.ones(count), dtype="Float64"),
            "y": pd.array([1, None] * 25, dtype="Int64"),
        },
        index=pd.MultiIndex.from_product([["x"], range(count)], names=["where", "when"]),
    )
    out = tc.calibrate(frame)
    assert out.dtypes.equals(frame.dtypes) and out.index.equals(frame.index)
    assert out["y"].equals(frame["y"]) and (out["std"] > 0.0).all()
    whole = pd.DataFrame({"mean": [1, 2], "std": [1, 1], "y": [5, -3]})
    assert tc.calibrate(whole).dtypes.tolist() == [np.float64, np.float64, np.int64]
    lazy = pl.DataFrame({"mean": [0.0], "std": [1.0], "y": [None]}, schema={"mean": pl.Float32, "std": pl.Float64, "y": pl.Float64})
    assert tc.calibrate(lazy).schema == lazy.schema
    with pytest.raises(TypeError, match="collect"):
        tc.calibrate(lazy.lazy())
    arrow = pa.table({"mean": pa.array([0.0], pa.float32()), "std": [1.0], "y": [2.0]})
    assert tc.calibrate(arrow).schema == arrow.schema

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return arrow.__arrow_c_stream__(requested_schema)

    assert tc.calibrate(Stream()).equals(tc.calibrate(arrow))  # type: ignore[attr-defined]


def test_numbers_are_read_without_a_copy() -> None:
    values = np.linspace(0.0, 1.0, 100)
    frame = pd.DataFrame({"a": values}, copy=False)
    assert np.shares_memory(tables.of(frame).numbers(0), frame["a"].to_numpy())
    assert np.shares_memory(tables.of({"a": values}).numbers(0), values)
    series = pl.Series("a", values)
    assert np.shares_memory(tables.of(series.to_frame()).numbers(0), series.to_numpy())
    arrow = pa.array(values)
    assert np.shares_memory(tables.of(pa.table({"a": arrow})).numbers(0), arrow.to_numpy())


def test_an_index_level_may_be_the_series() -> None:
    columns = table("gaussian")
    plain = make("pandas", columns)
    indexed = tc.calibrate(plain.set_index("unique_id"))
    assert indexed["std"].tolist() == tc.calibrate(plain)["std"].tolist()
    assert indexed.index.name == "unique_id"
    with pytest.raises(errors.ColumnsError, match="reset_index"):
        tc.calibrate(plain.set_index("mean"))


def test_a_fleet_goes_on() -> None:
    columns = table("gaussian")
    # With a fleet a forecast without an outcome waits for it, so both have one.
    whole = tc.calibrate(columns, fleet=tc.Fleet())
    fleet = tc.Fleet()
    parts = [tc.calibrate({name: values[part] for name, values in columns.items()}, fleet=fleet) for part in (slice(0, 100), slice(100, 240))]
    assert whole["std"].tolist() == [*parts[0]["std"], *parts[1]["std"]]
    assert fleet.keys == list(dict.fromkeys(columns["unique_id"])) and fleet.certificate().holds
    with pytest.raises(errors.SettingError, match="a fleet brings its own settings: leave out method, seed"):
        tc.calibrate(columns, fleet=fleet, method="aci", seed=3)


def test_what_breaks_a_rule_is_named() -> None:
    good: dict[str, list[Any]] = {"id": ["a", "b", "a"], "mean": [0.0, 1.0, 2.0], "std": [1.0, 1.0, 1.0], "y": [0.5, None, 1.0]}
    hostile: list[tuple[dict[str, Any], type[errors.TruecastError], str, str]] = [
        ({"std": [1.0, -1.0, 1.0]}, errors.CellError, "row 1: column std: must not be negative", "std"),
        ({"mean": [0.0, 1.0, np.nan]}, errors.CellError, "row 2: column mean: a forecast must be there", "mean"),
        ({"mean": [0.0, 1.0, None]}, errors.CellError, "row 2: column mean: a forecast must be there", "mean"),
        ({"mean": [0.0, np.inf, 0.0]}, errors.CellError, "row 1: column mean: must be finite", "mean"),
        ({"y": [0.5, np.inf, 0.0]}, errors.CellError, "row 1: column y: must be finite", "y"),
        ({"y": [0.5, "high", 0.0]}, errors.CellError, 'row 1: column y: must be a number, got "high"', "y"),
        ({"y": [True, False, True]}, errors.CellError, 'row 0: column y: must be a number, got "true"', "y"),
    ]
    for changed, kind, message, column in hostile:
        fleet = tc.Fleet()
        frames: list[Any] = [{**good, **changed}, pd.DataFrame({**good, **changed})]
        for frame in frames:
            with pytest.raises(kind, match=message) as caught:
                tc.calibrate(frame, fleet=fleet)
            assert caught.value.column == column
        # Nothing was learned from the rows before it.
        assert fleet.rows == 0 and fleet.to_bytes() == tc.Fleet().to_bytes()
    with pytest.raises(errors.ColumnsError, match="several columns may hold the outcome: y, actual\nhint: choose one with outcome=\"y\""):
        tc.calibrate({**good, "actual": [1.0, 2.0, 3.0]})
    with pytest.raises(errors.ColumnsError, match='there is no column "z", which key= names'):
        tc.calibrate(good, key="z")
    with pytest.raises(errors.ColumnsError, match="no columns are known to hold a forecast: a") as none:
        tc.calibrate({"a": [1.0]})
    assert none.value.hint.startswith('name them: mean="M", std="S", point="P", model="NAME"')
    with pytest.raises(errors.ColumnsError, match="two columns are called mean"):
        tc.calibrate(pd.DataFrame([[0.0, 1.0]], columns=["mean", "mean"]))
    with pytest.raises(errors.SettingError, match='is not a form; there are'):
        tc.calibrate(good, form="cauchy")  # type: ignore[arg-type]
    with pytest.raises(errors.ColumnsError, match='there is no column "region", which groups= names'):
        tc.calibrate(good, groups="region")
    with pytest.raises(errors.LengthMismatchError, match="id and std: 3 entries on one side and 2"):
        tc.calibrate({**good, "std": [1.0, 1.0]})
    with pytest.raises(errors.LengthMismatchError, match="rows and outcomes: 3 entries on one side and 1"):
        tc.calibrate(good, outcome=[1.0])
    with pytest.raises(errors.OutOfRangeError, match="coverage must be greater than 0 and less than 1, got 80: 0.8 instead of 80"):
        tc.calibrate(good, coverage=80)
    with pytest.raises(errors.RefusedRowsError, match="row 2: group"):
        tc.calibrate({**good, "id": ["a"] * 3, "g": [1, 2, 3]}, groups={"g": 2})
    with pytest.raises(errors.NoOutcomesError):
        tc.evaluate({"mean": [0.0], "std": [1.0]})
    with pytest.raises(TypeError, match="not list"):
        tc.calibrate([1.0])
    with pytest.raises(errors.CellError, match='row 0: column id: must be a series, a probability and .*, got "a"'):
        tc.calibrate({"id": ["a"], "F1": [1.0]})


def test_empty_frames_have_their_columns() -> None:
    columns = {name: np.asarray(values)[:0] for name, values in table("point").items()}
    for kind in KINDS:
        out = columns_of(tc.calibrate(make(kind, columns)))
        assert list(out) == [*columns, "lo-50", "hi-50", "lo-80", "hi-80", "lo-95", "hi-95"], kind


def test_names_that_are_taken() -> None:
    columns = {**table("gaussian"), "pit": np.zeros(240), "lo-80": [f"{k}" for k in range(240)]}
    out = tc.calibrate(columns, mean="mean", std="std", scores=True)
    assert list(out)[-4:] == ["pit_raw", "pit_calibrated", "crps_raw", "crps"]
    assert "lo-80_calibrated" in tc.calibrate(columns, mean="mean", std="std", coverage=0.8)


@pytest.mark.parametrize("form", FORMS)
def test_evaluate_is_the_commands_summary(truecast: str, tmp_path: Path, form: str) -> None:
    columns = table(form)
    command(truecast, tmp_path, columns, "--summary", str(tmp_path / "s.json"), verb="evaluate")
    summary = tc.evaluate(make("pandas", columns))
    assert summary.to_dict() == json.loads((tmp_path / "s.json").read_text())
    assert "80 % interval covers" in str(summary) and "<table>" in summary._repr_html_()
    assert summary.crps.calibrated is None and summary.width["0.8"].raw is not None


def test_compare_is_the_commands_summary(truecast: str, tmp_path: Path) -> None:
    columns = table("gaussian")
    command(truecast, tmp_path, columns, "--summary", str(tmp_path / "s.json"), "--seed", "4", verb="compare")
    comparison = tc.compare(columns, seed=4)
    assert comparison.to_dict() == json.loads((tmp_path / "s.json").read_text())
    frame = comparison.to_frame()
    assert frame.loc["ledger", "crps"] == comparison["ledger"].crps.calibrated
    assert frame.loc["(as they are)", "coverage_0.8"] == comparison["aci"].coverage["0.8"].raw
    assert "running-mean" in str(comparison) and "<table>" in comparison._repr_html_()
    assert repr(tc.compare(columns, methods=["pid"])) == "Comparison(pid)"


def test_points_one_by_one() -> None:
    values, y = [10.0, 11.0, 9.0], [12.0, 7.0, 9.5]
    one = tc.Fleet().run(["a"] * 3, [tc.Point(value) for value in values], y, coverage=0.8)
    batch = tc.Fleet().run(["a"] * 3, tc.Forecasts.points(values), y, coverage=0.8)
    assert one.lower is not None and batch.lower is not None
    assert one.lower.tolist() == batch.lower.tolist()
    assert tc.Point(1.0) == tc.Point(1) and hash(tc.Point(-0.0)) == hash(tc.Point(0.0)) and repr(tc.Point(2.0)) == "Point(2.0)"
    with pytest.raises(errors.NotFiniteError):
        tc.Point(np.inf)
    with pytest.raises(TypeError, match="row 1: a batch is of points or of distributions"):
        tc.Forecasts.of([tc.Point(1.0), tc.Gaussian(0.0, 1.0)])  # type: ignore[arg-type]


def test_fields_may_stand_anywhere() -> None:
    """An array with fields whose texts have an odd width has its numbers at odd addresses: reading them ended the interpreter's call with a panic."""
    columns = table("gaussian", 20)
    # One that has none would wait where a time says what it is about.
    columns["y"] = [y if y == y else 1.0 for y in columns["y"]]
    packed = np.zeros(20, dtype=[("tag", "S3"), ("mean", "f8"), ("std", "f8"), ("y", "f8"), ("ds", "i8")])
    for name in ("mean", "std", "y", "ds"):
        packed[name] = columns[name]
    assert not packed["mean"].flags.aligned
    expected = tc.calibrate({name: columns[name] for name in ("mean", "std", "y")})
    for frame in (packed, {name: packed[name] for name in ("mean", "std", "y")}):
        np.testing.assert_array_equal(tc.calibrate(frame)["mean"], expected["mean"])
    batch = tc.Forecasts.gaussian(packed["mean"], packed["std"])
    assert batch[3] == tc.Gaussian(columns["mean"][3], columns["std"][3])
    np.testing.assert_array_equal(batch[0].cdf(packed["mean"]), batch[0].cdf(columns["mean"]))
