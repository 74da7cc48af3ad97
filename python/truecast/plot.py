"""Charts of forecasts before and after calibration, with Matplotlib.

Every function takes arrays, or what a `Run` or a recalibrator has, and an optional ``ax``; it returns the Axes. Several
calls on the same ``ax`` compare.

>>> import matplotlib
>>> matplotlib.use("agg")
>>> import numpy as np
>>> import truecast as tc
>>> from truecast import plot
>>> y = np.random.default_rng(0).normal(0.0, 2.0, 500)
>>> rc = tc.Recalibrator()
>>> run = rc.run(tc.Forecasts.gaussian(np.zeros(500), np.ones(500)), y, coverage=0.8, pit=True, crps=True)
>>> ax = plot.pit_histogram(run)
>>> ax.get_xlabel()
'probability integral transform of the outcome'
>>> ax = plot.reliability(run)
>>> ax = plot.coverage_over_time(run, y=y, coverage=0.8)
>>> ax = plot.recalibration_map(rc)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Distribution, Fleet, Gaussian, Recalibrated, Recalibrator, Stream
from .results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage_over_time", "fan_chart", "pit_histogram", "recalibration_map", "regret", "reliability"]

_Array: TypeAlias = NDArray[np.float64]

_INK, _FAINT, _BLUE, _RED = "#333333", "#9a9a9a", "#1f6fb4", "#c44e3b"
# Of 95 % of the drawings if the forecasts are calibrated.
_BAND = 0.95


def pit_histogram(pit: ArrayLike | Run, *, bins: int = 20, label: str | None = None, ax: Axes | None = None) -> Axes:
    """A histogram of PIT values: flat if the forecasts are calibrated, a U if they are too narrow, a hill if too wide.

    Parameters
    ----------
    pit : array_like or Run
        PIT values, or a run with ``pit=True``; NaN is left out.
    bins : int
    label : str, optional
        For the legend.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    from scipy.stats import binom

    values = _pits(pit)
    ax, fresh = _axes(ax)
    counts, edges = np.histogram(values, bins=bins, range=(0.0, 1.0))
    density = counts * bins / len(values)
    # A second one on the same Axes is an outline, so that both can be seen.
    if fresh:
        ax.bar(
            edges[:-1],
            density,
            width=1.0 / bins,
            align="edge",
            color=_BLUE,
            alpha=0.75,
            edgecolor="white",
            label=label or "outcomes",
        )
        low, high = (binom.ppf(q, len(values), 1.0 / bins) * bins / len(values) for q in (0.5 - _BAND / 2, 0.5 + _BAND / 2))
        ax.axhspan(low, high, color=_FAINT, alpha=0.25, lw=0, label="95 % of bars if calibrated")
        ax.axhline(1.0, color=_INK, lw=1.0, ls="--")
    else:
        ax.stairs(density, edges, color=_RED, lw=1.6, label=label or "others")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, max(1.6, 1.15 * density.max(), ax.get_ylim()[1])))
    ax.set(
        xlabel="probability integral transform of the outcome",
        ylabel="density (1 if calibrated)",
        title="Where outcomes fell in their forecasts",
    )
    return _finished(ax)


def reliability(pit: ArrayLike | Run, *, levels: ArrayLike | None = None, label: str | None = None, ax: Axes | None = None) -> Axes:
    """How often outcomes were below each quantile, against how often they should be, with a consistency band.

    The band holds 95 % of the points, level by level, if the forecasts are calibrated and outcomes independent.

    Parameters
    ----------
    pit : array_like or Run
        PIT values, or a run with ``pit=True``; NaN is left out.
    levels : array_like, optional
        Probabilities of the quantiles; 0.05 to 0.95 by default.
    label : str, optional
        For the legend.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    from scipy.stats import binom

    values = _pits(pit)
    at = np.linspace(0.05, 0.95, 19) if levels is None else np.asarray(levels, dtype=np.float64)
    ax, fresh = _axes(ax)
    if fresh:
        fine = np.linspace(0.0, 1.0, 201)
        low, high = (binom.ppf(q, len(values), fine) / len(values) for q in (0.5 - _BAND / 2, 0.5 + _BAND / 2))
        ax.fill_between(fine, low, high, color=_FAINT, alpha=0.3, lw=0, label="95 % of points if calibrated")
        ax.plot([0.0, 1.0], [0.0, 1.0], color=_INK, lw=1.0, ls="--")
    share = (values[:, None] <= at).mean(axis=0)
    ax.plot(at, share, "o-", ms=4, lw=1.6, color=_BLUE if fresh else _RED, label=label or "outcomes")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set(
        xlabel="announced probability", ylabel="share of outcomes below the quantile", title="Do the quantiles hold what they say?"
    )
    return _finished(ax)


def coverage_over_time(
    lower: ArrayLike | Run,
    upper: ArrayLike | None = None,
    *,
    y: ArrayLike,
    coverage: float,
    window: int = 200,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The share of the last outcomes that their intervals held.

    Parameters
    ----------
    lower, upper : array_like
        Ends of the intervals; or a `Run` with one `coverage` as `lower`.
    y : array_like
        The outcomes; rows with NaN are left out.
    coverage : float
        What the intervals promise.
    window : int
        How many outcomes each share is of.
    label : str, optional
        For the legend.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    low, high = _interval(lower, upper)
    outcomes = np.asarray(y, dtype=np.float64)
    known = np.isfinite(outcomes)
    inside = ((low <= outcomes) & (outcomes <= high))[known]
    width = min(window, len(inside))
    if width < 1:
        raise ValueError(f"window must be 1 or more and there must be outcomes, got {window} and {len(inside)}")
    sums = np.concatenate([[0.0], np.cumsum(inside)])
    share = (sums[width:] - sums[:-width]) / width
    ax, fresh = _axes(ax)
    ax.plot(
        np.flatnonzero(known)[width - 1 :] + 1,
        100.0 * share,
        lw=1.6,
        color=_BLUE if fresh else _RED,
        label=f"{label or 'intervals'}: {100.0 * inside.mean():.1f} % over all",
    )
    if fresh:
        ax.axhline(100.0 * coverage, color=_INK, lw=1.0, ls="--", label=f"promised: {100.0 * coverage:g} %")
    bottom = 100.0 * min(share.min(), 2.0 * coverage - 1.0) - 3.0
    ax.set(ylim=(max(0.0, bottom if fresh else min(bottom, ax.get_ylim()[0])), 101.0))
    ax.set(
        xlabel="step", ylabel=f"outcomes inside, last {width} (%)", title=f"Coverage of {100.0 * coverage:g} % intervals over time"
    )
    return _finished(ax)


def fan_chart(
    forecasts: Sequence[Distribution],
    y: ArrayLike | None = None,
    *,
    x: ArrayLike | None = None,
    coverage: Sequence[float] = (0.5, 0.8, 0.95),
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Medians and central intervals of consecutive forecasts, with the outcomes.

    Parameters
    ----------
    forecasts : sequence of Distribution
    y : array_like, optional
        The outcomes; NaN where there is none.
    x : array_like, optional
        Where the forecasts stand, such as times; their numbers by default.
    coverage : sequence of float
        The intervals to draw.
    unit : str, optional
        The unit of the outcomes, for the axis.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    if not len(forecasts):
        raise ValueError("there must be at least one forecast, got none")
    ax, _ = _axes(ax)
    at = np.arange(1, len(forecasts) + 1) if x is None else np.asarray(x)
    for place, each in enumerate(sorted(coverage, reverse=True)):
        ends = np.array([forecast.interval(each) for forecast in forecasts])
        ax.fill_between(
            at, ends[:, 0], ends[:, 1], color=_BLUE, alpha=0.16 + 0.1 * place, lw=0, label=f"{100.0 * each:g} % interval"
        )
    ax.plot(at, [forecast.median() for forecast in forecasts], color=_BLUE, lw=1.6, label="median")
    if y is not None:
        ax.plot(at, np.asarray(y, dtype=np.float64), "o", ms=3.5, color=_INK, label="outcome")
    ax.margins(x=0.01)
    ax.set(
        xlabel="step" if x is None else "time", ylabel=f"outcome ({unit})" if unit else "outcome", title="Forecasts and outcomes"
    )
    return _finished(ax)


def regret(calibrated: ArrayLike | Run, base: ArrayLike, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """The sum of what calibration cost or gained in a score: below zero it has gained.

    Parameters
    ----------
    calibrated : array_like or Run
        Scores of the calibrated forecasts, or a run with ``crps=True``.
    base : array_like
        Scores of the forecaster, in the same order.
    label : str, optional
        For the legend.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    ours = _field(calibrated, "crps") if isinstance(calibrated, Run) else np.asarray(calibrated, dtype=np.float64)
    theirs = np.asarray(base, dtype=np.float64)
    if ours.shape != theirs.shape:
        raise ValueError(f"both must have as many scores, got {len(ours)} and {len(theirs)}")
    known = np.isfinite(ours) & np.isfinite(theirs)
    total = np.cumsum((ours - theirs)[known])
    change = 100.0 * total[-1] / theirs[known].sum() if len(total) else 0.0
    ax, fresh = _axes(ax)
    ax.plot(
        np.flatnonzero(known) + 1,
        total,
        lw=1.6,
        color=_BLUE if fresh else _RED,
        label=f"{label or 'calibrated'}: {change:+.1f} % over all",
    )
    if fresh:
        ax.axhline(0.0, color=_INK, lw=1.0, ls="--", label="the forecaster as it is")
    ax.margins(x=0.01)
    ax.set(
        xlabel="step",
        ylabel="sum of score differences (CRPS, unit of outcomes)",
        title="What calibration cost (above 0) or gained (below)",
    )
    return _finished(ax)


def recalibration_map(
    source: Recalibrator | Stream | Recalibrated,
    *,
    forecast: Distribution | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The map from the forecaster's probabilities to the calibrated ones: the diagonal until something was learned.

    Parameters
    ----------
    source : Recalibrator, Stream or Recalibrated
        A recalibrator as it is now, or what it made of a forecast.
    forecast : Distribution, optional
        The forecast that a recalibrator's map is drawn for; a standard normal one by default.
    label : str, optional
        For the legend.
    ax : Axes, optional

    Returns
    -------
    Axes
    """
    if isinstance(source, Fleet):
        raise TypeError("a fleet has a map for each series: draw fleet.recalibrator(key)")
    if isinstance(source, Stream):
        source = source.recalibrator
    after = source if isinstance(source, Recalibrated) else source.recalibrate(Gaussian(0.0, 1.0) if forecast is None else forecast)
    before = np.linspace(0.002, 0.998, 499)
    announced = after.cdf(after.base.quantile(before))
    ax, fresh = _axes(ax)
    if fresh:
        ax.plot([0.0, 1.0], [0.0, 1.0], color=_INK, lw=1.0, ls="--", label="no change")
    ax.plot(before, announced, lw=1.8, color=_BLUE if fresh else _RED, label=label or "now")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    ax.set(
        xlabel="probability that the forecaster says",
        ylabel="calibrated probability",
        title="What calibration makes of probabilities",
    )
    return _finished(ax)


def _axes(ax: Axes | None) -> tuple[Axes, bool]:
    """An Axes, and whether nothing was drawn on it before."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    return ax, not ax.has_data()


def _finished(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#e6e6e6", lw=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _field(run: Run, name: str) -> _Array:
    values = getattr(run, name)
    if values is None:
        raise ValueError(f"the run has no {name}: ask for it with {name}=True")
    return np.asarray(values, dtype=np.float64)


def _pits(pit: ArrayLike | Run) -> _Array:
    values: _Array = _field(pit, "pit") if isinstance(pit, Run) else np.asarray(pit, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values) or values.min() < 0.0 or values.max() > 1.0:
        raise ValueError("PIT values must be from 0 to 1, and there must be some")
    return values


def _interval(lower: Any, upper: Any) -> tuple[_Array, _Array]:
    if isinstance(lower, Run):
        if lower.lower is None or lower.upper is None or lower.lower.ndim != 1:
            raise ValueError("the run must have intervals of one coverage: ask for them with coverage=0.8")
        return lower.lower, lower.upper
    if upper is None:
        raise ValueError("upper is missing: give both ends, or a Run")
    return np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
