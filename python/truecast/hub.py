"""Outcomes of a hub's forecasts in a frame of their own, joined by the columns that both have, as the command joins files."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from . import errors, tables

# Names of the column that holds the outcome, the surest first.
_OUTCOME = ("oracle_value", "observation", "observed", "outcome", "y", "actual", "truth", "target_value", "value")
# A hub's oracle output says of every category and threshold whether it came true: those are no outcomes.
_NO_OUTCOMES = ("pmf", "cdf")


def outcomes(table: tables.Table, task: Sequence[int], times: Collection[int], given: tables.Table) -> tables.Numbers:
    """The outcome of every row, NaN where none is known.

    Parameters
    ----------
    table, task
        The forecasts, and the columns that tell them apart.
    times
        Those of the columns that hold times: they are compared as times, whatever their type on either side.
    given
        The outcomes.
    """
    shared = [column for column in task if table.names[column] in given.names]
    names = [table.names[column] for column in shared]
    if not shared:
        hint = "they must have some of the forecasts' columns, such as location and target_end_date"
        raise tables.columns_error("no column of the outcomes says which forecast one belongs to", hint)
    value = next((name for name in _OUTCOME if name in given.names and name not in names), None)
    if value is None:
        known = f"no column is known to hold the outcome: {', '.join(given.names)}"
        raise tables.columns_error(known, "call it oracle_value or observation")
    together = np.zeros(table.rows + given.rows, dtype=np.int64)
    for column, name in zip(shared, names, strict=True):
        both = _numbered(table, column, given, given.names.index(name), is_time=column in times)
        together = np.unique(together * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1].astype(np.int64)
    mine, theirs = together[: table.rows], together[table.rows :]
    numbers = tables.outcomes(given, given.names.index(value))
    rows = np.flatnonzero(~np.isnan(numbers) & _are_outcomes(given))
    theirs, numbers = theirs[rows], numbers[rows]
    _, first, back = np.unique(theirs, return_index=True, return_inverse=True)
    again = np.flatnonzero(numbers != numbers[first][back])
    if len(again):
        raise _second(int(rows[again[0]]), names)
    found = np.full(int(together.max(initial=-1)) + 1, np.nan)
    found[theirs] = numbers
    return np.asarray(found[mine], dtype=np.float64)


def _numbered(table: tables.Table, column: int, given: tables.Table, other: int, *, is_time: bool) -> NDArray[np.int64]:
    """The cells of a column on both sides, equal ones by the same number from 0."""
    if is_time:
        return np.unique(np.concatenate([table.times(column), given.times(other)]), return_inverse=True)[1].astype(np.int64)
    index: dict[str, int] = {"": 0}
    sides = []
    for codes, texts in (table.labels(column), given.labels(other)):
        known = np.array([*(index.setdefault(text, len(index)) for text in texts), 0], dtype=np.int64)
        sides.append(known[codes])  # none is the last one
    return np.concatenate(sides)


def _are_outcomes(given: tables.Table) -> NDArray[np.bool_]:
    if "output_type" not in given.names:
        return np.ones(given.rows, dtype=np.bool_)
    codes, texts = given.labels(given.names.index("output_type"))
    return ~np.array([*(text in _NO_OUTCOMES for text in texts), False], dtype=np.bool_)[codes]


def _second(row: int, names: Sequence[str]) -> errors.SecondOutcomeError:
    error = errors.SecondOutcomeError(
        f"row {row} of the outcomes: a second outcome for the same {', '.join(names)}\nhint: leave out the rows that are not meant, such as earlier versions"
    )
    error.row = row
    return error
