"""Fleets: many series in one call."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray

import truecast as tc
from truecast import errors

Batch = tuple[list[str], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture
def batch() -> Batch:
    """600 rows of seven series, in no order."""
    rng = np.random.default_rng(8)
    keys = [f"s{k}" for k in rng.integers(0, 7, 600)]
    mu, sigma = rng.normal(size=600), rng.uniform(0.5, 2.0, 600)
    return keys, mu, sigma, mu + 2.0 * sigma * rng.standard_normal(600)


def test_each_series_is_a_recalibrator_of_its_own(method: Any, batch: Batch) -> None:
    keys, mu, sigma, y = batch
    if method in ("approachability", "internal-regret", "tophat", "isotonic"):
        pytest.skip("series toss coins of their own: the seed has the key in it")
    fleet = tc.Fleet(method)
    run = fleet.run(keys, tc.Forecasts.gaussian(mu, sigma), y, coverage=[0.8, 0.95], q=0.25, mean=True, std=True, pit=True, crps=True)
    assert run.lower is not None and run.upper is not None and run.quantiles is not None and run.crps is not None
    assert run.mean is not None and run.std is not None and run.pit is not None
    series = {key: tc.Recalibrator(method) for key in keys}
    for row, key in enumerate(keys):
        forecast = tc.Gaussian(mu[row], sigma[row])
        calibrated = series[key].recalibrate(forecast)
        assert (run.lower[row, 0], run.upper[row, 0]) == calibrated.interval(0.8)
        assert (run.lower[row, 1], run.upper[row, 1]) == calibrated.interval(0.95)
        assert run.quantiles[row] == calibrated.quantile(0.25)
        assert (run.mean[row], run.std[row]) == (calibrated.mean(), calibrated.std())
        assert run.crps[row] == calibrated.crps(y[row])
        assert run.pit[row] == calibrated.cdf(y[row])
        series[key].observe(forecast, y[row])
    assert fleet.keys == list(dict.fromkeys(keys)) and len(fleet) == 7 and fleet.rows == 600
    assert "s3" in fleet and "t" not in fleet


def test_batches_may_end_anywhere(batch: Batch) -> None:
    keys, mu, sigma, y = batch
    whole, parts = tc.Fleet(seed=3), tc.Fleet(seed=3)
    forecasts = tc.Forecasts.gaussian(mu, sigma)
    first = whole.run(keys, forecasts, y, coverage=0.8)
    lower = []
    for start, end in [(0, 1), (1, 250), (250, 251), (251, 600)]:
        part = parts.run(keys[start:end], tc.Forecasts.gaussian(mu[start:end], sigma[start:end]), y[start:end], coverage=0.8)
        assert part.lower is not None
        lower += part.lower.tolist()
        parts = pickle.loads(pickle.dumps(tc.Fleet.from_bytes(parts.to_bytes())))
    assert first.lower is not None and first.lower.tolist() == lower
    assert whole.to_bytes() == parts.to_bytes()
    stop_loss = whole.certificate().stop_loss
    assert whole.certificate().holds and stop_loss is not None and stop_loss.outcomes == 600


def test_forecasting_teaches_nothing(batch: Batch) -> None:
    keys, mu, sigma, y = batch
    fleet = tc.Fleet()
    fleet.run(keys, tc.Forecasts.gaussian(mu, sigma), y)
    certificate = fleet.certificate()
    once = fleet.run(["s1", "s2"], [tc.Gaussian(0.0, 1.0), tc.Samples([1.0, 2.0])], q=[0.1, 0.9])
    twice = fleet.run(["s1", "s2"], [tc.Gaussian(0.0, 1.0), tc.Samples([1.0, 2.0])], [np.nan, np.nan], q=[0.1, 0.9], missing=True)
    assert once.quantiles is not None and twice.quantiles is not None
    assert once.quantiles.tolist() == twice.quantiles.tolist()
    assert fleet.certificate() == certificate


def test_keys_are_text_or_whole_numbers() -> None:
    fleet = tc.Fleet()
    forecasts = tc.Forecasts.gaussian([0.0, 0.0], [1.0, 1.0])
    fleet.run([7, "b"], forecasts, [0.0, 1.0])
    fleet.run(np.array([7, 9]), forecasts, [0.0, 1.0])
    fleet.run(np.array(["7", "é"]), forecasts, [0.0, 1.0])
    assert fleet.keys == ["7", "b", "9", "é"]
    assert fleet.recalibrator("7").steps == fleet.recalibrator(7).steps == 3
    with pytest.raises(KeyError):
        fleet.recalibrator("z")
    hostile: list[Any] = ["ab", [1.5, 2.5], [None, "a"], 3, None]
    for keys in hostile:
        with pytest.raises(TypeError):
            fleet.run(keys, forecasts, [0.0, 1.0])
    with pytest.raises(errors.LengthMismatchError, match="forecasts and keys: 2 entries on one side and 1"):
        fleet.run(["a"], forecasts, [0.0, 1.0])
    assert fleet.rows == 6


def test_points_learn_their_scale() -> None:
    rng = np.random.default_rng(6)
    y = rng.normal(10.0, 3.0, 500)
    run = tc.Fleet().run(["a"] * 500, tc.Forecasts.points(np.full(500, 10.0)), y, std=True, coverage=0.8)
    assert run.std is not None and run.lower is not None and run.upper is not None
    # The scale is a mean of |residuals|: after 400 its standard error is 3·0.75/√400 = 0.11.
    assert abs(run.std[400:].mean() - 3.0) < 0.5
    with pytest.raises(errors.NotFiniteError, match="row 1: point forecast must be finite"):
        tc.Forecasts.points([1.0, np.inf])
    scale = tc.PointScale(1.0, half_life=50.0)
    for outcome in y.tolist():
        scale.observe(10.0, outcome)
    assert pickle.loads(pickle.dumps(scale)).scale == scale.scale
    assert scale.forecast(2.0) == tc.Gaussian(2.0, scale.scale)


def test_late_outcomes(batch: Batch) -> None:
    _, mu, sigma, y = batch
    late = tc.Fleet(delay=2)
    run = late.run(["a"] * 600, tc.Forecasts.gaussian(mu, sigma), y, coverage=0.8)
    stream = tc.Stream(seed=late.recalibrator("a").seed)
    tickets: list[int] = []
    assert run.lower is not None
    for row in range(600):
        if row >= 3:  # known to the row after the next two
            stream.resolve(tickets[row - 3], y[row - 3])
        ticket, calibrated = stream.issue(tc.Gaussian(mu[row], sigma[row]))
        tickets.append(ticket)
        assert run.lower[row] == calibrated.interval(0.8)[0]
    assert late.waiting == 3
    timed = tc.Fleet(timed=True)
    time = np.arange(600.0)
    again = timed.run(["a"] * 600, tc.Forecasts.gaussian(mu, sigma), y, coverage=0.8, time=time, due=time + 3.0)
    assert again.lower is not None and again.lower.tolist() == run.lower.tolist()
    with pytest.raises(errors.RefusedRowsError) as caught:
        timed.run(["a", "b"], tc.Forecasts.gaussian([0.0, 0.0], [1.0, 1.0]), [0.0, 0.0], coverage=0.8, time=[5.0, 5.0], due=[6.0, 6.0])
    ((row, reason),) = caught.value.refused
    assert row == 0 and isinstance(reason, errors.BackwardsError) and reason.last == 599.0
    assert np.isnan(caught.value.result.lower[0]) and np.isfinite(caught.value.result.lower[1])


def test_groups_by_label(batch: Batch) -> None:
    keys, mu, sigma, y = batch
    fleet = tc.Fleet(groups=2)
    labels = ["week", "weekend", ["week", "weekend"], None] * 150
    fleet.run(["a"] * 600, tc.Forecasts.gaussian(mu, sigma), y, groups=labels)
    by_number = tc.Recalibrator(groups=2, seed=fleet.recalibrator("a").seed)
    by_number.run(tc.Forecasts.gaussian(mu, sigma), y, groups=[[0], [1], [0, 1], []] * 150)
    assert fleet.recalibrator("a").to_bytes() == by_number.to_bytes()
    with pytest.raises(errors.RefusedRowsError, match='1 rows were refused and the others taken; row 0: group "holiday"') as caught:
        fleet.run(["a"], [tc.Gaussian(0.0, 1.0)], [0.0], groups=["holiday"])
    assert isinstance(caught.value.refused[0][1], errors.TooManyGroupsError)


def test_states_are_checked() -> None:
    with pytest.raises(errors.BadMagicError):
        tc.Fleet.from_bytes(tc.Recalibrator().to_bytes())
    with pytest.raises(errors.NoCertificateError):
        tc.Fleet().certificate()
    assert repr(tc.Fleet("pid")) == "Fleet(method='pid', series=0, rows=0)"
    assert "<table>" in tc.Fleet()._repr_html_()
    assert tc.Fleet.paper(10).method == "ledger"


def test_batches_are_checked() -> None:
    hostile: list[Any] = [
        lambda: tc.Forecasts.gaussian([1.0], [1.0, 2.0]),
        lambda: tc.Forecasts.gaussian([[1.0]], [[1.0]]),
        lambda: tc.Forecasts.gaussian(1.0, 1.0),  # type: ignore[arg-type]
        lambda: tc.Forecasts.quantiles([0.1, 0.9], [[1.0]]),
        lambda: tc.Forecasts.quantiles([0.1, 0.9], [1.0, 2.0]),
        lambda: tc.Forecasts.samples(np.empty((3, 0))),
        lambda: tc.Forecasts.of([tc.Gaussian(0.0, 1.0), 3]),  # type: ignore[arg-type]
        lambda: tc.Forecasts.of(3),  # type: ignore[arg-type]
        lambda: tc.Forecasts.student_t([1.0], [1.0], []),
        lambda: tc.Forecasts.gaussian([0.0], [1.0])[1],
        lambda: tc.Forecasts.gaussian([0.0], [1.0])[-2],
    ]
    for make in hostile:
        with pytest.raises((TypeError, ValueError, IndexError)):
            make()
    assert tc.Forecasts.gaussian([0.0, 1.0], [1.0, 1.0])[-1] == tc.Gaussian(1.0, 1.0)
    assert [f for f in tc.Forecasts.samples([[1.0, 2.0]])] == [tc.Samples([1.0, 2.0])]
    assert tc.Forecasts.points([3.0])[0] == tc.Point(3.0)
    assert repr(tc.Forecasts.quantiles([0.1, 0.9], [[1.0, 2.0]])) == "Forecasts.quantiles(1 rows)"
    assert len(tc.Forecasts.gaussian([], [])) == 0


def test_keys_of_every_kind_are_the_same() -> None:
    rng = np.random.default_rng(2)
    names = [f"k{k}" for k in rng.integers(0, 7, 200)]
    mu, y = rng.normal(size=200), rng.normal(size=200)
    forecasts = tc.Forecasts.gaussian(mu, np.ones(200))

    def state(keys: Any) -> bytes:
        fleet = tc.Fleet()
        fleet.run(keys, forecasts, y)
        return fleet.to_bytes()

    expected = state(names)
    apart = ["".join(["k", name[1:]]) for name in names]  # equal texts, each an object of its own
    kinds: list[Any] = [
        apart,
        tuple(names),
        iter(apart),
        np.array(names),
        np.array(names, dtype=object),
        pd.Series(names),
        pd.Series(names).astype("category"),
        pd.Categorical(names, categories=["unused", *sorted(set(names))]),
        pl.Series(names),
        pl.Series(names).cast(pl.Categorical),
        pa.array(names),
        pa.array(names).dictionary_encode(),
        pa.chunked_array([names[:50], names[50:]]),
    ]
    for keys in kinds:
        assert state(keys) == expected, type(keys)
    numbers = [int(name[1:]) for name in names]
    wholes: list[Any] = [np.array(numbers), np.array(numbers, dtype=np.int8), np.array(numbers, dtype=np.uint64), pd.Categorical(numbers), [str(n) for n in numbers]]
    for keys in wholes:
        assert state(keys) == state(numbers), type(keys)
    # Categories that read alike are one series.
    assert tc.Fleet().run(pd.Categorical([1, "1"]), tc.Forecasts.gaussian([1.0, 1.0], [1.0, 1.0])).rows == 2
    missing: list[Any] = [pd.Categorical(["a", None]), pa.array(["a", None]), ["a", None], [1.5, 2.0], "ab", np.array([1.5, 2.0]), 3]
    for keys in missing:
        with pytest.raises(TypeError):
            tc.Fleet().run(keys, tc.Forecasts.gaussian([1.0, 1.0], [1.0, 1.0]))
