"""Calibrated prediction frames of statsforecast, mlforecast and neuralforecast.

>>> import pandas as pd
>>> from truecast import nixtla
>>> frame = pd.DataFrame({
...     "unique_id": "tea", "cutoff": range(4), "ds": range(1, 5), "y": [9.0, 12.0, 13.0, 7.0],
...     "Naive": 10.0, "Naive-lo-80": 9.5, "Naive-hi-80": 10.5,
... })
>>> calibrated = nixtla.calibrate(frame)
>>> list(calibrated.columns) == list(frame.columns)
True
>>> bool(calibrated["Naive-hi-80"].iloc[3] > 10.5)          # three misses have been seen
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._core import Fleet, Forecasts

if TYPE_CHECKING:
    from ._core import _Method

__all__ = ["calibrate"]

# A pandas or a polars frame: what comes in goes out.
_Frame = TypeVar("_Frame")

_END = re.compile(r"(?P<model>.+)-(?P<end>lo|hi)-(?P<level>\d+(?:\.\d+)?)")


def calibrate(
    frame: _Frame,
    *,
    history: _Frame | None = None,
    models: Sequence[str] | None = None,
    level: Sequence[float] | None = None,
    by_horizon: bool = True,
    method: _Method = "experts",
    half_life: float | None = None,
    seed: int = 0,
    id_col: str = "unique_id",
    time_col: str = "ds",
    target_col: str = "y",
) -> _Frame:
    """The same frame with calibrated intervals.

    Every row is calibrated with the outcomes that were known when it was forecast: those of its series up to its ``cutoff``,
    or, without that column, those of the earlier rows. Rows without an outcome are forecast and teach nothing.

    Parameters
    ----------
    frame : pandas or polars frame
        As of ``cross_validation``: series, times, outcomes, and for each model its column with ``Model-lo-80`` and
        ``Model-hi-80``. A model without intervals gives points: their scale is learned, and intervals are added. Or as of
        ``forecast`` or ``predict``, without outcomes, and then with `history`.
    history : frame, optional
        Of the same form and with outcomes, learned from before all rows of `frame`, which must come later.
    models : sequence of str, optional
        The models to calibrate; by default those that have intervals, or `models` must say which columns are points.
    level : sequence of float, optional
        The intervals to return, in per cent; by default those that are there, and 80 and 95 for points.
    by_horizon : bool
        Calibrate each number of steps ahead by itself; if not, all forecasts of a series together.
    method, half_life, seed
        As of `truecast.Recalibrator`.
    id_col, time_col, target_col : str
        Names of the columns of series, times and outcomes.

    Returns
    -------
    frame of the same kind, rows in the same order
        The models' own columns are the calibrated medians.
    """
    given = [*([] if history is None else [history]), frame]
    names = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    ends = _ends(names)
    chosen = list(models) if models is not None else list(ends)
    if not chosen:
        raise ValueError(
            f"no columns like Model-lo-80 and Model-hi-80, and models names no points: the columns are {', '.join(names)}"
        )
    for model in chosen:
        if model not in names and model not in ends:
            raise ValueError(f"there is no model {model!r}: the columns are {', '.join(names)}")
    rows, last = _rows(given, id_col, time_col, target_col, by_horizon=by_horizon), len(_column(frame, id_col))
    columns: dict[str, NDArray[np.float64]] = {}
    for model in chosen:
        known = ends.get(model, {})
        asked = sorted(level) if level is not None else sorted({each for _, each in known}) or [80.0, 95.0]
        fleet = Fleet(method, half_life=half_life, seed=seed, timed=True)
        run = fleet.run(
            rows.keys,
            _forecasts(given, model, known, rows.order),
            rows.y,
            coverage=[each / 100.0 for each in asked],
            q=0.5,
            time=rows.made,
            due=rows.due,
            missing=True,
        )
        assert run.lower is not None and run.upper is not None and run.quantiles is not None
        back = np.argsort(rows.order)[-last:]
        columns[model] = run.quantiles[back]
        for index, each in enumerate(asked):
            columns[known.get(("lo", each), f"{model}-lo-{each:g}")] = run.lower[back, index]
            columns[known.get(("hi", each), f"{model}-hi-{each:g}")] = run.upper[back, index]
    calibrated: _Frame = _with(frame, columns, keep=names)
    return calibrated


class _Rows:
    """What is known of the rows of all frames, in the order in which they were forecast."""

    def __init__(self, keys: list[str], made: NDArray[np.float64], due: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        self.order = np.lexsort((due, made))
        self.keys = [keys[row] for row in self.order]
        self.made, self.due, self.y = made[self.order], due[self.order], y[self.order]


def _ends(names: list[str]) -> dict[str, dict[tuple[str, float], str]]:
    """The columns of interval ends: by model, then by end and level."""
    found: dict[str, dict[tuple[str, float], str]] = {}
    for name in names:
        match = _END.fullmatch(name)
        if match and 0.0 < float(match["level"]) < 100.0:
            found.setdefault(match["model"], {})[match["end"], float(match["level"])] = name
    return found


def _column(frame: Any, name: str) -> NDArray[Any]:
    if name not in frame.columns:
        raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(str, frame.columns))}")
    return np.asarray(frame[name].to_numpy())


def _rows(frames: list[Any], id_col: str, time_col: str, target_col: str, *, by_horizon: bool) -> _Rows:
    ids = np.concatenate([_column(frame, id_col).astype(str) for frame in frames])
    times = np.concatenate([_column(frame, time_col) for frame in frames])
    # Times as ranks: what counts is only which outcome was known before which forecast was made.
    stamps = np.unique(np.concatenate([times, *(_column(frame, "cutoff") for frame in frames if "cutoff" in frame.columns)]))
    due = np.searchsorted(stamps, times).astype(np.float64)
    made, y, start = [], [], 0
    for frame in frames:
        count = len(_column(frame, id_col))
        here = due[start : start + count]
        if "cutoff" in frame.columns:
            made.append(np.searchsorted(stamps, _column(frame, "cutoff")).astype(np.float64))
        elif target_col in frame.columns:
            made.append(here - 0.5)  # each row one step after the one before it
        else:
            _, series = np.unique(ids[start : start + count], return_inverse=True)
            first = np.full(series.max(initial=-1) + 1, np.inf)
            np.minimum.at(first, series, here)
            made.append(first[series] - 0.5)  # all steps of a series at once, after all that came before
        y.append(_column(frame, target_col).astype(np.float64) if target_col in frame.columns else np.full(count, np.nan))
        start += count
    cut = np.concatenate(made)
    keys = ids.tolist()
    if by_horizon:
        keys = [f"{key}\x1f{step}" for key, step in zip(keys, _steps(ids, cut, due), strict=True)]
    return _Rows(keys, cut, due, np.concatenate(y))


def _steps(ids: NDArray[Any], made: NDArray[np.float64], due: NDArray[np.float64]) -> list[int]:
    """How many steps ahead each row is: its place among the rows of its series that were forecast at the same time."""
    steps, order, before, count = np.zeros(len(ids), dtype=int), np.lexsort((due, made, ids)), None, 0
    for row in order.tolist():
        window = (ids[row], made[row])
        count = count + 1 if window == before else 1
        steps[row], before = count, window
    return [int(step) for step in steps]


def _forecasts(frames: list[Any], model: str, known: dict[tuple[str, float], str], order: NDArray[np.intp]) -> Forecasts:
    def values(name: str) -> NDArray[np.float64]:
        return np.concatenate([_column(frame, name).astype(np.float64) for frame in frames])[order]

    if not known:
        return Forecasts.points(values(model))
    at = {(0.5 - each / 200.0 if end == "lo" else 0.5 + each / 200.0): name for (end, each), name in known.items()}
    if all(model in frame.columns for frame in frames):
        at[0.5] = model
    probabilities = sorted(at)
    return Forecasts.quantiles(probabilities, np.column_stack([values(at[q]) for q in probabilities]))


def _with(frame: Any, columns: dict[str, NDArray[np.float64]], *, keep: list[str]) -> Any:
    """The frame with these columns; intervals alone stay alone."""
    columns = {name: values for name, values in columns.items() if name in keep or _END.fullmatch(name)}
    if hasattr(frame, "with_columns"):
        import polars

        return frame.with_columns([polars.Series(name, values) for name, values in columns.items()])
    return frame.assign(**columns)
