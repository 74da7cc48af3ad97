"""Minimisation in few trials, and the log of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._core import Gaussian, Space, Study
from .errors import NoOutcomeError, OutcomeError
from .spaces import Choice, Integer, Real


@dataclass(frozen=True)
class Trial:
    """One line of a study's log.

    Attributes
    ----------
    number : int
        From 0.
    point : dict
    value : float or None
        The outcome, if there is one.
    failed : str or None
        Why there is none, if the evaluation failed; with neither, the trial is pending.
    origin : str
        Where the point comes from: ``design``, ``acquisition``, ``fallback`` (a random draw) or ``told`` (it was not suggested).
    multiplier : float or None
        The multiplier with which the surrogate's standard deviation entered a lower confidence bound, after recalibration.
    forecast : Gaussian or None
        The surrogate's own forecast of the outcome, before recalibration.
    interval : tuple of float or None
        The central 80 % interval of the outcome, after recalibration.
    fallback : tuple of str or None
        The part of a suggestion that did not work (``surrogate``, ``calibration`` or ``acquisition``), and why.
    """

    number: int
    point: dict[str, Any]
    value: float | None
    failed: str | None
    origin: Literal["design", "acquisition", "fallback", "told"]
    multiplier: float | None
    forecast: Gaussian | None
    interval: tuple[float, float] | None
    fallback: tuple[str, str] | None


@dataclass(frozen=True)
class Minimum:
    """What `minimize` found.

    Attributes
    ----------
    study : Study
        Everything about it; it can go on, and be saved.
    """

    study: Study

    @property
    def best(self) -> Trial:
        """The trial of least outcome; `NoOutcomeError` if every trial failed."""
        best = self.study.best
        if best is None:
            log = self.study.log
            last = f"; the last failed: {log[-1].failed}" if log else ""
            raise NoOutcomeError(f"none of {len(log)} trials has an outcome{last}")
        return best

    @property
    def best_value(self) -> float:
        """The least outcome."""
        value = self.best.value
        assert value is not None
        return value

    @property
    def best_point(self) -> dict[str, Any]:
        """The point of the least outcome."""
        return dict(self.best.point)

    @property
    def log(self) -> list[Trial]:
        """Every trial, in order."""
        return self.study.log

    def __repr__(self) -> str:
        best = self.study.best
        found = "no outcome" if best is None else f"best_value={best.value!r}, best_point={best.point!r}"
        return f"Minimum({found}, trials={len(self.study)})"


def minimize(
    f: Callable[[dict[str, Any]], float],
    space: Study | Space | Mapping[str, Real | Integer | Choice | tuple[float, float]],
    trials: int = 30,
    *,
    on_error: Literal["raise", "fail"] | type[Exception] | tuple[type[Exception], ...] = "raise",
    callback: Callable[[Study, Trial], object] | None = None,
    **settings: Any,
) -> Minimum:
    """Finds where a function is least, in few trials.

    Parameters
    ----------
    f : callable
        Takes a point, a dict of the names of the space, and returns a number. A number that cannot be an outcome (NaN, infinite, beyond 1e100) is
        told as a failed trial.
    space : Space, mapping or Study
        What is searched; or a study that is to go on: its pending points come first.
    trials : int
        How many trials the study has in the end, failed ones and earlier ones included.
    on_error : 'raise', 'fail', or a class of exceptions or a tuple of such
        What becomes of an exception of `f`: it is raised, or the trial is told as failed with its words; of a class, only exceptions of this class are
        failures. After an exception the point stays pending in a study that was passed in.
    callback : callable, optional
        Called with the study and the trial after each trial; it ends the search by returning True.
    **settings
        Those of `Study`: `calibration`, `seed` and so on.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> import truecast as tc
    >>> space = {"x": (-5.0, 10.0), "n": tc.Integer(1, 6)}
    >>> found = tc.minimize(lambda p: (p["x"] - 2.0) ** 2 + (p["n"] - 4) ** 2, space, trials=25, noise=0.0, seed=1)
    >>> found.best_point["n"], round(found.best_point["x"], 1)
    (4, 2.0)
    """
    failures = _failures(on_error)
    if isinstance(space, Study):
        if settings:
            raise TypeError(f"the study has its settings already: {', '.join(settings)}")
        study = space
    else:
        study = Study(space, **settings)
    waiting = study.pending
    while waiting or len(study) < trials:
        point = waiting.pop(0) if waiting else study.suggest()
        number = _evaluate(f, study, point, failures)
        if callback is not None and callback(study, study.log[number]) is True:
            break
    return Minimum(study)


def _failures(on_error: object) -> tuple[type[Exception], ...]:
    """The exceptions that are failed trials."""
    if on_error == "raise":
        return ()
    if on_error == "fail":
        return (Exception,)
    kinds = on_error if isinstance(on_error, tuple) else (on_error,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise TypeError(f"on_error must be 'raise', 'fail' or exception classes, not {kind!r}")
    return kinds


def _evaluate(
    f: Callable[[dict[str, Any]], float], study: Study, point: dict[str, Any], failures: tuple[type[Exception], ...]
) -> int:
    """Tells the study what came of a pending point; returns the number of its trial."""
    number = next(trial.number for trial in study.log if trial.point == point and trial.value is None and trial.failed is None)
    try:
        # A copy: what f does to its point is its own business.
        value = f(dict(point))
    except failures as error:
        study.observe_failed(point, f"{type(error).__name__}: {error}")
        return number
    try:
        study.observe(point, value)
    except OutcomeError:
        study.observe_failed(point, f"the function returned {value}")
    return number
