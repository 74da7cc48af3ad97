"""Rows of the M5 uncertainty competition, as the command reads them.

``id`` is the series, a quantile's probability and ``validation`` or ``evaluation``, joined by underscores; ``F1`` to ``F28`` are the days. Outcomes are in a frame of
their own with ``id`` (series and phase, or series alone) and either the same ``F`` columns or the sales' days ``d_1914``, ….
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import errors, tables
from ._core import _Table

# The first days of both phases in the competition's calendar.
_FIRST_DAYS = {"validation": 1914, "evaluation": 1942}
_RULE = "must be a series, a probability and validation or evaluation, such as Total_X_0.250_validation"
_NEEDED = "M5 outcomes have id and F1, F2, … or d_1914, d_1915, …"
_DATE = re.compile(r"d_(\d+)")


@dataclass(frozen=True)
class _Actuals:
    """What was sold."""

    by_day: dict[str, list[float]]
    """By ``F`` columns, for series and phase together or for a series in both."""
    by_date: dict[str, dict[int, float]]
    """By days of the calendar."""

    @staticmethod
    def of(table: tables.Table, days: int) -> _Actuals:
        dates = [(int(match[1]), at) for at, name in enumerate(table.names) if (match := _DATE.fullmatch(name))]
        if "id" not in table.names:
            raise tables.columns_error("the outcomes have no column id", _NEEDED)
        if "F1" not in table.names and not dates:
            raise tables.columns_error("the outcomes have no columns of days", _NEEDED)
        codes, texts = table.labels(table.names.index("id"))
        ids = ["" if code < 0 else texts[code] for code in codes]
        sold = {date: tables.outcomes(table, at) for date, at in dates}
        named = [tables.outcomes(table, table.names.index(f"F{day}")) if f"F{day}" in table.names else None for day in range(1, days + 1)]
        by_day: dict[str, list[float]] = {}
        by_date: dict[str, dict[int, float]] = {}
        for row, name in enumerate(ids):
            # Sales files call their rows …_validation or …_evaluation whatever days they hold.
            series, _, phase = name.rpartition("_")
            by_date[series if phase in _FIRST_DAYS else name] = {date: float(values[row]) for date, values in sold.items()}
            if "F1" in table.names:
                by_day[name] = [np.nan if values is None else float(values[row]) for values in named]
        return _Actuals(by_day, by_date)

    def days(self, series: str, phase: str, count: int) -> list[float]:
        """The outcomes of a phase, NaN where one is not known."""
        of_phase = self.by_day.get(f"{series}_{phase}", self.by_day.get(series, []))
        dates, first = self.by_date.get(series, {}), _FIRST_DAYS[phase]
        found = []
        for day in range(count):
            known = of_phase[day] if day < len(of_phase) else np.nan
            found.append(dates.get(first + day, np.nan) if np.isnan(known) else known)
        return found


def _parsed(name: str) -> tuple[str, float, str] | None:
    """Series, probability and phase of an ``id``."""
    parts = name.rsplit("_", 2)
    if len(parts) != 3 or parts[2] not in _FIRST_DAYS:
        return None
    try:
        probability = float(parts[1]) if parts[1] == parts[1].strip() else np.nan
    except ValueError:
        return None
    return (parts[0], probability, parts[2]) if 0.0 < probability < 1.0 else None


def rows(table: tables.Table, identifier: int, columns: Sequence[int], outcomes: tables.Table | None) -> _Table:
    """The rows as a fleet takes them."""
    codes, texts = table.labels(identifier)
    parsed = [_parsed(name) for name in texts]
    index: dict[str, int] = {}
    series = np.array([-1 if each is None else index.setdefault(each[0], len(index)) for each in parsed] + [-1], dtype=np.int64)
    probabilities = np.array([np.nan if each is None else each[1] for each in parsed] + [np.nan])
    first_days = np.array([0 if each is None else _FIRST_DAYS[each[2]] for each in parsed] + [0], dtype=np.int64)
    days = [np.asarray(table.numbers(column), dtype=np.float64) for column in columns]
    wrong = np.flatnonzero(series[codes] < 0)
    for row in wrong.tolist():
        name = texts[codes[row]] if codes[row] >= 0 else ""
        message = f'{_RULE}, got "{name}"'
        table.refuse(tables.placed(errors.CellError, message, row, table.names[identifier], name))
    if len(wrong):
        days[0] = days[0].copy()
        days[0][wrong] = np.inf  # what has been refused here is refused there
    places: NDArray[np.int64] | None = None
    matrix: list[NDArray[np.float64]] = []
    if outcomes is not None:
        actuals = _Actuals.of(outcomes, len(columns))
        phases: dict[tuple[str, str], int] = {}
        place = np.array([-1 if each is None else phases.setdefault((each[0], each[2]), len(phases)) for each in parsed] + [-1], dtype=np.int64)
        known = np.array([actuals.days(*phase, len(columns)) for phase in phases]).reshape(len(phases), len(columns))
        places, matrix = place[codes], [np.ascontiguousarray(day) for day in known.T]
    return _Table.m5(
        (series[codes], list(index)),
        probabilities[codes],
        first_days[codes],
        days,
        [table.names[column] for column in columns],
        skip=table.refused is not None,
        places=places,
        outcomes=matrix,
    )
