"""Whole frames in one call: `calibrate`, `evaluate` and `compare`, as the command of these names does it with files.

pandas, Polars and PyArrow frames, dicts of arrays and NumPy arrays with fields; columns are recognised by name, and each series is calibrated
by itself, on all cores. What comes out is of the kind that came in, with the same rows in the same order, and the numbers are the command's, bit for bit.

>>> import truecast as tc
>>> frame = {"mean": [20.0, 21.0, 19.0], "std": [2.0, 2.0, 2.0], "y": [23.5, 17.0, float("nan")]}
>>> calibrated = tc.calibrate(frame)
>>> list(calibrated), bool(calibrated["std"][2] > 2.0)
(['mean', 'std', 'y'], True)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import errors, hub, m5, tables
from ._core import Fleet, _Layout, _recognise, _Table
from .summaries import Comparison, Summary

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from ._core import _Method

    _Form: TypeAlias = Literal["gaussian", "quantiles", "intervals", "samples", "point", "hubverse", "m5"]
    _OnError: TypeAlias = Literal["fail", "skip"]

FrameT = TypeVar("FrameT")

# Groups that a column has room for unless it says how many, and N of the paper's experiments.
_USUAL_GROUPS = 8
_PAPER_RESOLUTION = 20
# Intervals for point forecasts, which have none of their own.
_USUAL_COVERAGES = (0.5, 0.8, 0.95)
# Forms with a forecast in several rows.
_LONG = ("hubverse", "m5")
# Rows that are named when some are left out.
_SHOWN = 5
_SCORES = ("pit_raw", "pit", "crps_raw", "crps")
_METHODS: tuple[_Method, ...] = (
    "experts",
    "ledger",
    "approachability",
    "internal-regret",
    "defensive",
    "running-mean",
    "tophat",
    "isotonic",
    "aci",
    "dtaci",
    "sf-ogd",
    "saocp",
    "pid",
)


@dataclass(frozen=True)
class _Recognised:
    """A frame with the meaning of its columns."""

    table: tables.Table
    layout: _Layout
    outcomes: tables.Table | None

    @property
    def is_long(self) -> bool:
        return self.layout.form in _LONG

    @property
    def skips(self) -> bool:
        """True if rows that break a rule are left out."""
        return self.table.refused is not None

    def name(self, column: int | None) -> str:
        return "" if column is None else self.table.names[column]

    def rows(self, groups: Sequence[str] = ()) -> _Table:
        """The rows as a fleet takes them."""
        table, layout = self.table, self.layout
        if layout.form == "m5":
            return m5.rows(table, layout.keys[0], layout.columns, self.outcomes)
        outcome = None if layout.outcome is None else table.numbers(layout.outcome)
        keys = self._coded(layout.keys) if layout.keys else None
        # Late outcomes alone need times; whatever else a column of that name holds is nobody's business.
        late = layout.outcome_time is not None or self.is_long
        time = None if layout.time is None or not late else table.times(layout.time)
        due = None if layout.outcome_time is None else table.times(layout.outcome_time)
        if layout.output_type is None:
            columns = [table.numbers(column) for column in layout.columns]
            labels = [(name, table.labels(table.names.index(name))) for name in groups]
            return _Table(
                layout, table.rows, columns, outcome=outcome, outcome_name=self.name(layout.outcome), keys=keys, groups=labels, time=time, due=due
            )
        kind, identifier = layout.output_type
        (value,) = layout.columns
        # What tells forecasts apart, whichever of the columns tell series apart.
        task = [column for column in range(len(table.names)) if column not in (kind, identifier, value, layout.outcome)]
        if self.outcomes is not None:
            times = [column for column in (layout.time, layout.outcome_time) if column is not None]
            outcome = hub.outcomes(table, task, times, self.outcomes)
        return _Table.hub(
            self._coded(task)[0] if task else np.zeros(table.rows, dtype=np.int64),
            table.labels(kind),
            table.labels(identifier),
            table.numbers(value),
            (self.name(identifier), self.name(value)),
            skip=self.skips,
            outcome=outcome,
            outcome_name=self.name(layout.outcome),
            keys=keys,
            time=time,
            due=due,
        )

    def tell(self, refused: Sequence[tuple[int, Exception]]) -> None:
        """Warns of rows that were left out."""
        if not refused:
            return
        unreadable = self.table.refused or {}
        found = tuple((row, unreadable.get(row, error)) for row, error in refused)
        said = [str(error) if str(error).startswith(f"row {row}") else f"row {row}: {error}" for row, error in found[:_SHOWN]]
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        count = "1 row was" if len(found) == 1 else f"{len(found)} rows were"
        warning = errors.SkippedRowsWarning("\n  ".join([f"{count} left out", *said, *more]))
        warning.count, warning.refused = len(found), found
        warnings.warn(warning, stacklevel=3)

    def _coded(self, columns: Sequence[int]) -> tables.Coded:
        """The cells of several columns together, joined as the command joins them."""
        every = [self.table.labels(column) for column in columns]
        if len(every) == 1:
            return every[0]
        # One number for each set of cells, made dense after each column so that it cannot grow out of range.
        together = np.zeros(self.table.rows, dtype=np.int64)
        for codes, texts in every:
            together = np.unique(together * (len(texts) + 1) + codes + 1, return_inverse=True)[1]
        first = np.unique(together, return_index=True)[1].tolist()
        joined = ["\x1f".join("" if codes[row] < 0 else texts[codes[row]] for codes, texts in every) for row in first]
        return together.astype(np.int64, copy=False), joined


def _recognised(
    frame: Any,
    outcome: str | ArrayLike | None,
    key: str | Sequence[str] | None,
    form: _Form | None,
    mean: str | None,
    std: str | None,
    point: str | None,
    model: str | None,
    time: str | None,
    outcome_time: str | None,
    outcomes: Any,
    on_error: _OnError,
) -> _Recognised:
    table = tables.of(frame, model)
    if on_error not in ("fail", "skip"):
        raise _setting(f'on_error is "fail" or "skip", not {on_error!r}')
    table.refused = {} if on_error == "skip" else None
    if outcome is not None and not isinstance(outcome, str):
        values = np.asarray(outcome)
        if values.shape != (table.rows,):
            error = errors.LengthMismatchError(f"rows and outcomes: {table.rows} entries on one side and {len(values)} on the other")
            error.what, error.left, error.right = "rows and outcomes", table.rows, len(values)
            raise error
        outcome = table.beside("outcome", values)
    layout = _recognise(
        table.names,
        form=form,
        outcome=outcome,
        key=[key] if isinstance(key, str) else None if key is None else list(key),
        time=time,
        outcome_time=outcome_time,
        mean=mean,
        std=std,
        point=point,
        model=None if table.chosen else model,
    )
    if outcomes is not None and layout.form not in _LONG:
        raise _setting("outcomes= is for hub and M5 forms; here a row holds its own outcome: name its column with outcome=")
    for column in layout.columns:
        if column >= table.width:
            raise tables.columns_error(f"{table.names[column]} holds the forecast and is no column", "make it one: reset_index()")
    return _Recognised(table, layout, None if outcomes is None else tables.of(outcomes))


def _setting(message: str) -> errors.SettingError:
    return errors.SettingError(message)


def _groups(groups: str | Sequence[str] | Mapping[str, int] | None, recognised: _Recognised) -> dict[str, int]:
    if groups is None:
        return {}
    named = {groups: _USUAL_GROUPS} if isinstance(groups, str) else groups
    counts = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, _USUAL_GROUPS)
    for name in counts:
        if name not in recognised.table.names:
            raise tables.columns_error(f'there is no column "{name}", which groups= names', f"the columns are {', '.join(recognised.table.names)}")
    if recognised.is_long:
        raise _setting("groups are for forms with one row for each forecast")
    return counts


def _timed(delay: int | None, recognised: _Recognised) -> bool:
    """True if outcomes become known at times that rows say."""
    column = recognised.layout.outcome_time
    if delay is not None and column is not None and not recognised.is_long:
        raise _setting(f"delay= and the column {recognised.name(column)} both say when outcomes become known: leave one of them out")
    return delay is None and column is not None


def _probabilities(name: str, given: float | Sequence[float] | None) -> list[float]:
    """Shares greater than 0 and less than 1, in order, each once."""
    if given is None:
        return []
    values = sorted({float(value) for value in np.atleast_1d(np.asarray(given, dtype=np.float64))})
    for value in values:
        if not 0.0 < value < 1.0:
            hint = f": {value / 100:g} instead of {value:g}" if name == "coverage" and 1.0 < value < 100.0 else ""
            error = errors.OutOfRangeError(f"{name} must be greater than 0 and less than 1, got {value:g}{hint}")
            error.what, error.rule, error.value = name, "greater than 0 and less than 1", value
            raise error
    return values


def calibrate(
    frame: FrameT,
    *,
    outcome: str | ArrayLike | None = None,
    key: str | Sequence[str] | None = None,
    mean: str | None = None,
    std: str | None = None,
    point: str | None = None,
    model: str | None = None,
    form: _Form | None = None,
    time: str | None = None,
    outcome_time: str | None = None,
    outcomes: Any = None,
    on_error: _OnError = "fail",
    coverage: float | Sequence[float] | None = None,
    q: float | Sequence[float] | None = None,
    scores: bool = False,
    fleet: Fleet | None = None,
    method: _Method = "experts",
    groups: str | Sequence[str] | Mapping[str, int] | None = None,
    thresholds: Sequence[float] | None = None,
    half_life: float | None = None,
    prior: float | None = None,
    stop_loss: float | None = 0.005,
    guard: str | None = None,
    experts: Sequence[str] | None = None,
    lags: bool = True,
    bounds: tuple[float | None, float | None] | None = None,
    randomised: bool | None = None,
    paper: bool | int = False,
    seed: int = 0,
    delay: int | None = None,
) -> FrameT:
    """The same rows with calibrated forecasts, each calibrated with what was known before it.

    Rows are in time order within their series. One without an outcome (NaN, None, null) is forecast and teaches nothing.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow frame, dict of arrays, NumPy array with fields
        Or anything with ``__arrow_c_stream__``, which comes back as a PyArrow table.
    outcome, key, mean, std, point, model, form, time, outcome_time
        Columns, where their names do not say what they hold. `outcome` may be the outcomes themselves, in the order of the rows; `key` may be several columns, and
        ``()`` says that all rows are one series; `model` is NAME of ``NAME-lo-80`` and ``NAME-hi-80``, or sktime's variable.
    outcomes : frame, optional
        Outcomes in a frame of their own, for a hub's forecasts (which have some of its columns, and ``oracle_value``, ``observation`` or ``value`` here) and for rows of the
        M5 competition (``id``, and the same ``F`` columns or days ``d_1914``, …).
    on_error : str
        What to do with a row that breaks a rule: ``fail``, or ``skip``, which leaves such rows out and counts them in a `SkippedRowsWarning`.
    coverage, q : float or sequence, optional
        Write these central intervals (``lo-80``, ``hi-80``) and quantiles (``q0.1``) at the end, instead of the form that came in.
    scores : bool
        Add PIT and CRPS of every row, before (``pit_raw``, ``crps_raw``) and after (``pit``, ``crps``).
    fleet : Fleet, optional
        Go on with this fleet, which learns: two calls in a row are one call, bit for bit. It brings its own settings.
    groups : str, sequence of str or dict of str to int
        Columns within whose values to calibrate too; a dict says for how many values each has room (8 unless said).
    paper : bool or int
        The paper's setting, with N = 20 or another.
    delay : int, optional
        How many more rows of its series come before an outcome is known.
    method, stop_loss, guard, experts, lags, thresholds, bounds, half_life, prior, randomised, seed
        As of `Fleet`.

    Returns
    -------
    A frame of the kind that came in.

    Raises
    ------
    ColumnsError
        If columns are not there, or could be read in several ways; the message lists them.
    InvalidInputError
        If a cell breaks a rule; `row` and `column` say which. Nothing was learned then.
    RefusedRowsError
        If a series has more groups than there is room for, or times that run backwards. A `fleet` has learned from the other rows.

    Examples
    --------
    >>> import truecast as tc
    >>> fleet = tc.Fleet()
    >>> today = {"unique_id": ["a", "b"], "y": [1.2, 3.0], "ETS-lo-80": [0.5, 2.0], "ETS-hi-80": [1.5, 4.0]}
    >>> list(tc.calibrate(today, fleet=fleet))
    ['unique_id', 'y', 'ETS-lo-80', 'ETS-hi-80']
    >>> list(tc.calibrate(today, fleet=fleet, coverage=0.9, scores=True)), fleet.rows
    (['unique_id', 'y', 'lo-90', 'hi-90', 'pit_raw', 'pit', 'crps_raw', 'crps'], 4)
    """
    recognised = _recognised(frame, outcome, key, form, mean, std, point, model, time, outcome_time, outcomes, on_error)
    table, layout = recognised.table, recognised.layout
    counts = _groups(groups, recognised)
    timed = _timed(delay, recognised)
    resolution = _PAPER_RESOLUTION if paper is True else int(paper) or None
    said = {
        "method": method != "experts",
        "thresholds": thresholds is not None,
        "half_life": half_life is not None,
        "prior": prior is not None,
        "stop_loss": stop_loss != 0.005,
        "guard": guard is not None,
        "experts": experts is not None,
        "lags": not lags,
        "bounds": bounds is not None,
        "randomised": randomised is not None,
        "paper": resolution is not None,
        "seed": seed != 0,
        "delay": delay is not None,
    }
    if fleet is None:
        fleet = Fleet(
            method,
            stop_loss=stop_loss,
            guard=guard,
            half_life=half_life,
            seed=seed,
            experts=experts,
            lags=lags,
            bounds=bounds,
            prior=prior,
            randomised=randomised,
            groups=sum(counts.values()),
            thresholds=thresholds,
            delay=delay or 0,
            timed=timed,
            paper=resolution,
        )
    elif any(said.values()):
        raise _setting(f"a fleet brings its own settings: leave out {', '.join(name for name, is_said in said.items() if is_said)}")
    quantiles, coverages = _probabilities("q", q), _probabilities("coverage", coverage)
    asked = bool(quantiles or coverages)
    if recognised.is_long and (asked or scores):
        raise _setting("coverage, q and scores are for forms with one row for each forecast: those of hubs and of the M5 competition come out as they came in")
    dropped = set(layout.columns) if asked else set()
    names: list[str] = []
    wanted: list[float] = []
    if layout.form == "point" and not asked:
        wanted, coverages = [0.5], list(_USUAL_COVERAGES)
    staying = [name for at, name in enumerate(table.names[: table.width]) if at not in dropped]
    for probability in quantiles:
        names.append(_free(f"q{tables.decimal(probability)}", staying))
        wanted.append(probability)
    for share in coverages:
        percent = float(tables.percent(share))
        for side, end in (("lo", (100.0 - percent) / 200.0), ("hi", (100.0 + percent) / 200.0)):
            names.append(_free(f"{side}-{tables.decimal(percent)}", staying))
            wanted.append(end)
    columns, scored, left_out, refused = fleet._take(
        recognised.rows(list(counts)), q=wanted or None, scores=scores, skip=recognised.skips
    )
    recognised.tell(refused)
    if recognised.is_long:
        # What no forecast has a say in stays as it came; a cell that no number is becomes a missing one.
        unreadable = np.isin(np.arange(table.rows), list(table.refused or ()))
        columns = [
            np.where(np.isnan(new), np.where(unreadable, np.nan, table.numbers(column)), new)
            for column, new in zip(layout.columns, columns, strict=True)
        ]
    replaced = {} if asked else dict(zip(layout.columns, columns, strict=False))
    added = dict(zip(names, columns[len(columns) - len(names) :], strict=True))
    added.update({_free(name, staying): values for name, values in zip(_SCORES, scored, strict=False)})
    changed: FrameT = table.changed(replaced, dropped, added)
    if left_out:
        changed = table.without(changed, np.setdiff1d(np.arange(table.rows), left_out))
    return changed


def _free(name: str, staying: Sequence[str]) -> str:
    """The name, with ``_calibrated`` behind it where a column that stays has it already."""
    while name in staying:
        name += "_calibrated"
    return name


def evaluate(
    frame: Any,
    *,
    outcome: str | ArrayLike | None = None,
    key: str | Sequence[str] | None = None,
    mean: str | None = None,
    std: str | None = None,
    point: str | None = None,
    model: str | None = None,
    form: _Form | None = None,
    time: str | None = None,
    outcome_time: str | None = None,
    outcomes: Any = None,
    on_error: _OnError = "fail",
) -> Summary:
    """Scores forecasts as they are: nothing is recalibrated.

    Parameters
    ----------
    frame, outcome, key, mean, std, point, model, form, time, outcome_time, outcomes, on_error
        As of `calibrate`.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import truecast as tc
    >>> summary = tc.evaluate({"mean": [0.0, 1.0], "std": [1.0, 1.0], "y": [0.5, 9.0]})
    >>> summary.rows, summary.coverage["0.8"].raw
    (2, 0.5)
    """
    recognised = _recognised(frame, outcome, key, form, mean, std, point, model, time, outcome_time, outcomes, on_error)
    found, refused = Fleet()._score(recognised.rows(), raw_only=True, skip=recognised.skips)
    recognised.tell(refused)
    return _scored(Summary._of(found))


def compare(
    frame: Any,
    *,
    methods: Sequence[_Method] = _METHODS,
    outcome: str | ArrayLike | None = None,
    key: str | Sequence[str] | None = None,
    mean: str | None = None,
    std: str | None = None,
    point: str | None = None,
    model: str | None = None,
    form: _Form | None = None,
    time: str | None = None,
    outcome_time: str | None = None,
    on_error: _OnError = "fail",
    paper: bool | int = False,
    seed: int = 0,
    delay: int | None = None,
) -> Comparison:
    """Several methods side by side on the same rows.

    Parameters
    ----------
    methods : sequence of str
        All of them unless said.
    frame, outcome, key, mean, std, point, model, form, time, outcome_time, on_error, paper, seed, delay
        As of `calibrate`.

    Returns
    -------
    Comparison
        Summaries by method, which prints as a table; `to_frame` makes it a pandas frame.
    """
    recognised = _recognised(frame, outcome, key, form, mean, std, point, model, time, outcome_time, None, on_error)
    if recognised.is_long:
        raise _setting("methods are compared on forms with one row for each forecast: evaluate what calibrate makes by each")
    if isinstance(methods, str) or not methods:
        raise TypeError("methods is a sequence of names, at least one")
    timed = _timed(delay, recognised)
    resolution = _PAPER_RESOLUTION if paper is True else int(paper) or None
    fleets = {method: Fleet(method, seed=seed, delay=delay or 0, timed=timed, paper=resolution) for method in methods}
    rows = recognised.rows()
    refused: list[tuple[int, Exception]] = []
    summaries: dict[str, Summary] = {}
    for method, fleet in fleets.items():
        found, refused = fleet._score(rows, skip=recognised.skips)
        summaries[method] = _scored(Summary._of(found))
    recognised.tell(refused)
    return Comparison(summaries)


def _scored(summary: Summary) -> Summary:
    if summary.rows == 0:
        raise errors.NoOutcomesError("no row has an outcome, so there is nothing to score: name the outcome's column with outcome=")
    return summary
