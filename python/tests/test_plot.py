"""Charts: what is drawn is what was measured."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle, StepPatch
from numpy.typing import NDArray
from scipy.stats import binom, norm

import truecast as tc
from truecast import plot

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402

N = 600


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def y() -> NDArray[np.float64]:
    return np.random.default_rng(5).normal(0.3, 2.0, N)


@pytest.fixture
def recalibrator() -> tc.Recalibrator:
    return tc.Recalibrator()


@pytest.fixture
def run(recalibrator: tc.Recalibrator, y: NDArray[np.float64]) -> tc.Run:
    return recalibrator.run(tc.Forecasts.gaussian(np.zeros(N), np.ones(N)), y, coverage=0.8, pit=True, crps=True)


def line(ax: Axes, label: str) -> NDArray[np.float64]:
    found = [each for each in ax.get_lines() if str(each.get_label()).startswith(label)]
    assert len(found) == 1, [each.get_label() for each in ax.get_lines()]
    return np.column_stack([np.asarray(found[0].get_xdata(), dtype=np.float64), np.asarray(found[0].get_ydata(), dtype=np.float64)])


def says_what_it_is(ax: Axes) -> None:
    assert ax.get_title() and ax.get_xlabel() and ax.get_ylabel() and ax.get_legend() is not None


def test_pit_histogram(run: tc.Run, y: NDArray[np.float64]) -> None:
    assert run.pit is not None
    ax = plot.pit_histogram(run, bins=10)
    says_what_it_is(ax)
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_width() == pytest.approx(0.1)]
    counts, _ = np.histogram(run.pit, bins=10, range=(0.0, 1.0))
    assert np.allclose([bar.get_height() for bar in bars], counts * 10 / N)
    band = [patch for patch in ax.patches if "if calibrated" in str(patch.get_label())][0]
    assert isinstance(band, Rectangle)
    assert band.get_y() == pytest.approx(binom.ppf(0.025, N, 0.1) * 10 / N)
    assert band.get_y() + band.get_height() == pytest.approx(binom.ppf(0.975, N, 0.1) * 10 / N)
    # Another on the same Axes is an outline, with the forecasts as they were: a U.
    assert plot.pit_histogram(norm.cdf(y), bins=10, label="raw", ax=ax) is ax
    outline = [patch for patch in ax.patches if isinstance(patch, StepPatch)][0]
    heights = outline.get_data()[0]
    assert heights[0] > 1.5 and heights[-1] > 1.5 and heights.sum() == pytest.approx(10.0)
    assert ax.get_ylim()[1] > heights.max()


def test_reliability(run: tc.Run) -> None:
    assert run.pit is not None
    ax = plot.reliability(run, levels=[0.1, 0.5, 0.9], label="ours")
    says_what_it_is(ax)
    assert np.allclose(line(ax, "ours"), [(q, float(np.mean(run.pit <= q))) for q in (0.1, 0.5, 0.9)])
    band = [each for each in ax.collections if isinstance(each, PolyCollection)][0]
    corners = np.asarray(band.get_paths()[0].vertices)
    at_half = corners[np.isclose(corners[:, 0], 0.5), 1]
    assert at_half.min() == pytest.approx(binom.ppf(0.025, N, 0.5) / N)
    assert at_half.max() == pytest.approx(binom.ppf(0.975, N, 0.5) / N)


def test_coverage_over_time(run: tc.Run, y: NDArray[np.float64]) -> None:
    assert run.lower is not None and run.upper is not None
    inside = (run.lower <= y) & (y <= run.upper)
    ax = plot.coverage_over_time(run, y=y, coverage=0.8, window=100)
    says_what_it_is(ax)
    drawn = line(ax, "intervals")
    assert drawn[0, 0] == 100 and drawn[-1, 0] == N
    assert np.allclose(drawn[:, 1], [100.0 * inside[t - 100 : t].mean() for t in range(100, N + 1)])
    assert (line(ax, "promised")[:, 1] == 80.0).all()
    same = line(plot.coverage_over_time(run.lower, run.upper, y=y, coverage=0.8, window=100), "intervals")
    assert (same == drawn).all()
    # A step without an outcome is left out, and the others keep their place.
    holes = y.copy()
    holes[:50] = np.nan
    assert line(plot.coverage_over_time(run, y=holes, coverage=0.8, window=100), "intervals")[0, 0] == 150


def test_fan_chart() -> None:
    forecasts = [tc.Gaussian(float(m), 1.0 + m) for m in range(5)]
    ax = plot.fan_chart(forecasts, [0.0, 1.0, np.nan, 3.0, 4.0], coverage=[0.8, 0.5], unit="kWh")
    says_what_it_is(ax)
    assert ax.get_ylabel() == "outcome (kWh)"
    assert np.allclose(line(ax, "median"), [(m + 1, m) for m in range(5)])
    assert np.allclose(line(ax, "outcome")[:, 1], [0.0, 1.0, np.nan, 3.0, 4.0], equal_nan=True)
    assert [str(each.get_label()) for each in ax.collections] == ["80 % interval", "50 % interval"]
    for band, coverage in zip(ax.collections, (0.8, 0.5), strict=True):
        corners = np.asarray(band.get_paths()[0].vertices)
        last = corners[corners[:, 0] == 5.0, 1]
        assert (last.min(), last.max()) == pytest.approx(forecasts[4].interval(coverage))


def test_regret(run: tc.Run, y: NDArray[np.float64]) -> None:
    assert run.crps is not None
    base = tc.scores.crps_normal(y, np.zeros(N), np.ones(N))
    ax = plot.regret(run, base)
    says_what_it_is(ax)
    drawn = line(ax, "calibrated")
    assert np.allclose(drawn[:, 1], np.cumsum(run.crps - base)) and drawn[-1, 1] < 0.0
    assert f"{100.0 * (run.crps.sum() / base.sum() - 1.0):+.1f} % over all" in str(ax.get_lines()[0].get_label())


def test_recalibration_map(recalibrator: tc.Recalibrator) -> None:
    drawn = line(plot.recalibration_map(recalibrator), "now")
    assert np.allclose(drawn[:, 0], drawn[:, 1], atol=1e-9)  # nothing learned yet
    stream = tc.Stream()
    for outcome in np.random.default_rng(1).normal(0.0, 2.0, 500).tolist():
        ticket, _ = stream.issue(tc.Gaussian(0.0, 1.0))
        stream.resolve(ticket, outcome)
    ax = plot.recalibration_map(stream)
    says_what_it_is(ax)
    drawn = line(ax, "now")
    calibrated = stream.recalibrator.recalibrate(tc.Gaussian(0.0, 1.0))
    assert np.allclose(drawn[:, 1], [calibrated.cdf(float(norm.ppf(q))) for q in drawn[:, 0]], atol=1e-9)
    # Outcomes are twice as wide as forecast: P(Y ≤ Φ⁻¹(0.1)) is Φ(Φ⁻¹(0.1)/2) = 0.26.
    assert np.interp(0.1, drawn[:, 0], drawn[:, 1]) == pytest.approx(0.26, abs=0.06)
    assert (line(plot.recalibration_map(calibrated), "now") == drawn).all()


def test_what_cannot_be_drawn(run: tc.Run, y: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="PIT values must be from 0 to 1"):
        plot.pit_histogram([0.5, 1.5])
    with pytest.raises(ValueError, match="the run has no pit: ask for it with pit=True"):
        plot.reliability(tc.Run(rows=3))
    with pytest.raises(ValueError, match="intervals of one coverage"):
        plot.coverage_over_time(tc.Run(rows=3), y=y, coverage=0.8)
    with pytest.raises(ValueError, match="upper is missing"):
        plot.coverage_over_time(y, y=y, coverage=0.8)
    with pytest.raises(ValueError, match="as many scores"):
        plot.regret(run, [1.0])
    with pytest.raises(ValueError, match="at least one forecast"):
        plot.fan_chart([])
    with pytest.raises(TypeError, match="a map for each series"):
        plot.recalibration_map(tc.Fleet())  # type: ignore[arg-type]
