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

from . import errors, tables
from ._core import _METHODS, Fleet, _Desk, _Frame
from .summaries import Comparison, Summary

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from ._core import _Method

    _Form: TypeAlias = Literal["gaussian", "quantiles", "intervals", "samples", "point", "hubverse", "m5"]
    _OnError: TypeAlias = Literal["fail", "skip"]
    _Revisions: TypeAlias = Literal["first", "last"]

FrameT = TypeVar("FrameT")

# Groups that a column has room for unless it says how many, and N of the paper's experiments.
_USUAL_GROUPS = 8
_PAPER_RESOLUTION = 20
# Rows that are named when some are left out.
_SHOWN = 5


@dataclass(frozen=True)
class _Read:
    """A frame, the desk that knows what its columns mean, and outcomes in a frame of their own."""

    table: tables.Table
    desk: _Desk
    frame: _Frame
    outcomes: tuple[_Frame, list[str]] | None
    skips: bool

    def tell(self, refused: Sequence[tuple[int, Exception]]) -> None:
        """Warns of rows that were left out."""
        if not refused:
            return
        said = [str(error).splitlines()[0] for _, error in refused[:_SHOWN]]
        more = [f"and {len(refused) - _SHOWN} more"] if len(refused) > _SHOWN else []
        count = "1 row was" if len(refused) == 1 else f"{len(refused)} rows were"
        warning = errors.SkippedRowsWarning("\n  ".join([f"{count} left out", *said, *more]))
        warning.count, warning.refused = len(refused), tuple(refused)
        warnings.warn(warning, stacklevel=3)


def _read(frame: Any, outcome: str | ArrayLike | None, key: str | Sequence[str] | None, model: str | None, outcomes: Any, on_error: _OnError, **said: Any) -> _Read:
    """Reads what the desk asks for. What is said has the names of the desk's arguments."""
    table = tables.of(frame, model)
    if on_error not in ("fail", "skip"):
        raise _setting(f'on_error is "fail" or "skip", not {on_error!r}')
    if outcome is not None and not isinstance(outcome, str):
        values = np.asarray(outcome)
        if values.shape != (table.rows,):
            error = errors.LengthMismatchError(f"rows and outcomes: {table.rows} entries on one side and {len(values)} on the other")
            error.what, error.left, error.right = "rows and outcomes", table.rows, len(values)
            raise error
        outcome = table.beside("outcome", values)
    keys = [key] if isinstance(key, str) else None if key is None else list(key)
    only = said.pop("where", None) or {}
    desk = _Desk(
        table.names,
        outcome=outcome,
        key=keys,
        model=None if table.chosen else model,
        skip=on_error == "skip",
        only=[(name, tables.text(value)) for name, value in only.items()],
        **said,
    )
    for column in desk.forecasts:
        if column >= table.width:
            raise tables.columns_error(f"{table.names[column]} holds the forecast and is no column", "make it one: reset_index()")
    given = None
    if outcomes is not None:
        theirs = tables.of(outcomes)
        given = (theirs.all(), theirs.names)
    return _Read(table, desk, table.read(*desk.columns), given, on_error == "skip")


def _setting(message: str) -> errors.SettingError:
    return errors.SettingError(message)


def _groups(groups: str | Sequence[str] | Mapping[str, int] | None) -> dict[str, int]:
    if groups is None:
        return {}
    named = {groups: _USUAL_GROUPS} if isinstance(groups, str) else groups
    return dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, _USUAL_GROUPS)


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
    interval_width: float | None = None,
    made: str | None = None,
    about: str | None = None,
    known: str | None = None,
    horizon: str | None = None,
    lag: str | float | None = None,
    step: str | float | None = None,
    delay: int | None = None,
    where: Mapping[str, Any] | None = None,
    outcomes: Any = None,
    revisions: _Revisions = "first",
    replace: bool = False,
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
) -> FrameT:
    """The same rows with calibrated forecasts, each calibrated with what was known when it was made.

    Where rows say when forecasts were made, they learn only from outcomes that were known by then; where they do not, rows are in time order within their series.
    A row without an outcome (NaN, None, null) is forecast; with a `fleet` it waits for its outcome.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow frame, dict of arrays, NumPy array with fields
        Or anything with ``__arrow_c_stream__``, which comes back as a PyArrow table.
    outcome, key, mean, std, point, model, form
        Columns, where their names do not say what they hold. `outcome` may be the outcomes themselves, in the order of the rows; `key` may be several columns, and
        ``()`` says that all rows are one series; `model` is NAME of ``NAME-lo-80`` and ``NAME-hi-80``, or sktime's variable.
    interval_width : float, optional
        How much, in percent, an interval should hold whose columns do not say: ``yhat_lower`` and ``yhat_upper``.
    made, about, known, horizon : str, optional
        Columns of when forecasts were made, what they are about, when outcomes are known, and how far ahead forecasts look, by which series are told apart;
        ``"none"`` says that no column tells.
    lag, step : str or float, optional
        How much later than the time that it is about an outcome is known (``"7d"``), and how long one step of a horizon is.
    delay : int, optional
        Without times: how many more rows of its series come before an outcome is known.
    where : dict of str to value, optional
        Calibrate rows with these cells alone; others pass through.
    outcomes : frame, optional
        Outcomes in a frame of their own, which has some of the forecasts' columns and ``oracle_value``, ``observation``, ``value`` or ``y``; for rows of the M5 competition
        ``id``, and the same ``F`` columns or days ``d_1914``, …. ``as_of`` says since when each is known.
    revisions : str
        Which of several outcomes about the same counts: the ``first``, or the ``last`` that is known before it is used.
    replace : bool
        A forecast takes the place of another about the same that waits in `fleet`, instead of being refused.
    on_error : str
        What to do with a row that breaks a rule: ``fail``, or ``skip``, which leaves such rows out and counts them in a `SkippedRowsWarning`.
    coverage, q : float or sequence, optional
        Write these central intervals (``lo-80``, ``hi-80``) and quantiles (``q0.1``) at the end, instead of the form that came in.
    scores : bool
        Add PIT and CRPS of every row, before (``pit_raw``, ``crps_raw``) and after (``pit``, ``crps``).
    bounds : (float or None, float or None), optional
        What is forecast lies between these, as ``(0, None)`` for counts: no calibrated quantile leaves them.
    fleet : Fleet, optional
        Go on with this fleet, which learns: two calls in a row are one call, bit for bit. It brings its own settings.
    groups : str, sequence of str or dict of str to int
        Columns within whose values to calibrate too; a dict says for how many values each has room (8 unless said).
    paper : bool or int
        The paper's setting, with N = 20 or another.
    method, stop_loss, guard, experts, lags, thresholds, bounds, half_life, prior, randomised, seed
        As of `Fleet`.

    Returns
    -------
    A frame of the kind that came in.

    Raises
    ------
    ColumnsError
        If columns are not there, or could be read in several ways, or would look ahead; the message says which keyword helps.
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
    counts = _groups(groups)
    intervals = [float(tables.percent(share)) for share in _probabilities("coverage", coverage)]
    read = _read(
        frame,
        outcome,
        key,
        model,
        outcomes,
        on_error,
        form=form,
        mean=mean,
        std=std,
        point=point,
        interval_width=interval_width,
        made=made,
        about=about,
        known=known,
        horizon=horizon,
        lag=None if lag is None else str(lag),
        step=None if step is None else str(step),
        delay=delay,
        where=where,
        revisions=revisions,
        replace=replace,
        groups=list(counts),
        keep=fleet is not None,
        quantiles=_probabilities("q", q),
        intervals=intervals,
        scores=scores,
    )
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
        timed, late = read.desk.lateness
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
            delay=late,
            timed=timed,
            paper=resolution,
        )
    elif any(said.values()):
        raise _setting(f"a fleet brings its own settings: leave out {', '.join(name for name, is_said in said.items() if is_said)}")
    table = read.table
    replaced, dropped, added, left_out, refused = fleet._take(read.desk, read.frame, read.outcomes, skip=read.skips)
    read.tell(refused)
    new: dict[int, tables.Numbers] = {}
    for column, values, there in replaced:
        if there is not None and not there.all():
            # What no forecast has a say in stays as it came; a cell that no number is becomes a missing one.
            own = table.numbers(column)
            values = np.where(there, values, np.nan if own is None else own)
        new[column] = values
    changed: FrameT = table.changed(new, set(dropped), dict(added))
    if left_out:
        changed = table.without(changed, np.setdiff1d(np.arange(table.rows), left_out))
    return changed


@dataclass(frozen=True)
class Booked:
    """What became of outcomes that were brought to forecasts which wait.

    Attributes
    ----------
    booked : int
        Forecasts that have their outcome now.
    revised : int
        Forecasts whose outcome is another one than that which counts.
    unmatched : int
        Outcomes about which no forecast is.
    """

    booked: int
    revised: int
    unmatched: int


def resolve(fleet: Fleet, outcomes: Any, *, outcome: str | None = None, revisions: _Revisions = "first") -> Booked:
    """Brings a frame of outcomes to the forecasts that wait in a fleet, as ``truecast resolve`` does with files.

    Parameters
    ----------
    fleet : Fleet
        As `calibrate` left it.
    outcomes : frame
        It has some of the forecasts' columns, and the outcome.
    outcome : str, optional
        The column of the outcome, where its name does not say so.
    revisions : str
        As of `calibrate`.

    Returns
    -------
    Booked

    Examples
    --------
    >>> import truecast as tc
    >>> fleet = tc.Fleet()
    >>> tomorrow = tc.calibrate({"ds": ["2026-11-17"], "mean": [20.0], "std": [2.0]}, fleet=fleet)
    >>> tc.resolve(fleet, {"ds": ["2026-11-17"], "y": [23.5]})
    Booked(booked=1, revised=0, unmatched=0)
    """
    table = tables.of(outcomes)
    return Booked(*fleet._resolve(table.all(), table.names, outcome=outcome, revisions=revisions))


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
    interval_width: float | None = None,
    made: str | None = None,
    about: str | None = None,
    known: str | None = None,
    horizon: str | None = None,
    where: Mapping[str, Any] | None = None,
    outcomes: Any = None,
    on_error: _OnError = "fail",
) -> Summary:
    """Scores forecasts as they are: nothing is recalibrated.

    Parameters
    ----------
    frame, outcome, key, mean, std, point, model, form, interval_width, made, about, known, horizon, where, outcomes, on_error
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
    columns = {"form": form, "mean": mean, "std": std, "point": point, "interval_width": interval_width}
    times = {"made": made, "about": about, "known": known, "horizon": horizon}
    read = _read(frame, outcome, key, model, outcomes, on_error, where=where, **columns, **times)
    timed, late = read.desk.lateness
    found, refused = Fleet(timed=timed, delay=late)._score(read.desk, read.frame, read.outcomes, raw_only=True, skip=read.skips)
    read.tell(refused)
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
    interval_width: float | None = None,
    made: str | None = None,
    about: str | None = None,
    known: str | None = None,
    horizon: str | None = None,
    lag: str | float | None = None,
    step: str | float | None = None,
    delay: int | None = None,
    where: Mapping[str, Any] | None = None,
    outcomes: Any = None,
    on_error: _OnError = "fail",
    paper: bool | int = False,
    seed: int = 0,
) -> Comparison:
    """Several methods side by side on the same rows.

    Parameters
    ----------
    methods : sequence of str
        All of them unless said.
    frame, outcome, key, mean, std, point, model, form, interval_width, made, about, known, horizon, lag, step, delay, where, outcomes, on_error, paper, seed
        As of `calibrate`.

    Returns
    -------
    Comparison
        Summaries by method, which prints as a table; `to_frame` makes it a pandas frame.
    """
    if isinstance(methods, str) or not methods:
        raise TypeError("methods is a sequence of names, at least one")
    columns = {"form": form, "mean": mean, "std": std, "point": point, "interval_width": interval_width}
    times = {"made": made, "about": about, "known": known, "horizon": horizon, "delay": delay}
    lengths = {name: None if given is None else str(given) for name, given in (("lag", lag), ("step", step))}
    read = _read(frame, outcome, key, model, outcomes, on_error, where=where, **columns, **times, **lengths)
    timed, late = read.desk.lateness
    resolution = _PAPER_RESOLUTION if paper is True else int(paper) or None
    refused: list[tuple[int, Exception]] = []
    summaries: dict[str, Summary] = {}
    for method in methods:
        fleet = Fleet(method, seed=seed, delay=late, timed=timed, paper=resolution)
        found, refused = fleet._score(read.desk, read.frame, read.outcomes, skip=read.skips)
        summaries[method] = _scored(Summary._of(found))
    read.tell(refused)
    return Comparison(summaries)


def _scored(summary: Summary) -> Summary:
    if summary.rows == 0:
        raise errors.NoOutcomesError("no row has an outcome, so there is nothing to score: name the outcome's column with outcome=")
    return summary
