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

from . import frames

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
    given: list[Any] = [*([] if history is None else [history]), frame]
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
    rows, last = _rows(given, id_col, time_col, target_col), len(_column(frame, id_col))
    columns: dict[str, NDArray[np.float64]] = {}
    for model in chosen:
        known = ends.get(model, {})
        asked = sorted(level) if level is not None else sorted({each for _, each in known}) or [80.0, 95.0]
        medians = [model] if all(model in each.columns for each in given) else []
        forecasts = {name: np.concatenate([_column(each, name).astype(np.float64) for each in given]) for name in [*known.values(), *medians]}
        calibrated = frames.calibrate(
            {**rows, **forecasts},
            made="made",
            about="ds",
            horizon=None if by_horizon else "none",
            key="unique_id",
            outcome="y",
            model=model if known else None,
            point=None if known else model,
            coverage=[each / 100.0 for each in asked],
            q=0.5,
            method=method,
            half_life=half_life,
            seed=seed,
        )
        median, *numbers = [np.asarray(values)[-last:] for values in list(calibrated.values())[-1 - 2 * len(asked) :]]
        columns[model] = median
        for each, lower, upper in zip(asked, numbers[::2], numbers[1::2], strict=True):
            columns[known.get(("lo", each), f"{model}-lo-{each:g}")] = lower
            columns[known.get(("hi", each), f"{model}-hi-{each:g}")] = upper
    changed: _Frame = _with(frame, columns, keep=names)
    return changed


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


def _rows(given: list[Any], id_col: str, time_col: str, target_col: str) -> dict[str, NDArray[Any]]:
    """Series, times and outcomes of all frames. A frame without ``cutoff`` was forecast row by row if it has outcomes, or else at once, after all that came before."""
    ids = np.concatenate([_column(frame, id_col).astype(str) for frame in given])
    times = np.concatenate([_column(frame, time_col) for frame in given])
    # Times as ranks: what counts is only which outcome was known before which forecast was made.
    stamps = np.unique(np.concatenate([times, *(_column(frame, "cutoff") for frame in given if "cutoff" in frame.columns)]))
    about = np.searchsorted(stamps, times).astype(np.float64)
    made, y, start = [], [], 0
    for frame in given:
        count = len(_column(frame, id_col))
        here = about[start : start + count]
        if "cutoff" in frame.columns:
            made.append(np.searchsorted(stamps, _column(frame, "cutoff")).astype(np.float64))
        elif target_col in frame.columns:
            made.append(here - 0.5)  # each row one step after the one before it
        else:
            _, series = np.unique(ids[start : start + count], return_inverse=True)
            first = np.full(series.max(initial=-1) + 1, np.inf)
            np.minimum.at(first, series, here)
            made.append(first[series] - 0.5)
        y.append(_column(frame, target_col).astype(np.float64) if target_col in frame.columns else np.full(count, np.nan))
        start += count
    return {"unique_id": ids, "made": np.concatenate(made), "ds": about, "y": np.concatenate(y)}


def _with(frame: Any, columns: dict[str, NDArray[np.float64]], *, keep: list[str]) -> Any:
    """The frame with these columns; intervals alone stay alone."""
    columns = {name: values for name, values in columns.items() if name in keep or _END.fullmatch(name)}
    if hasattr(frame, "with_columns"):
        import polars

        return frame.with_columns([polars.Series(name, values) for name, values in columns.items()])
    return frame.assign(**columns)
