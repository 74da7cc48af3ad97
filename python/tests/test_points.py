"""Point forecasts: the fleet's numbers from a recalibrator and a stream, bit for bit, and states that keep the learned scale."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import truecast as tc
from truecast import errors

Array = NDArray[np.float64]


@pytest.fixture
def points() -> tuple[Array, Array]:
    """Points, and outcomes one of which is hit exactly."""
    rng = np.random.default_rng(20261116)
    values = rng.normal(20.0, 5.0, 300)
    values[0] = 0.0
    y = values + rng.normal(0.0, 3.0, 300)
    y[1] = values[1]
    return values, y


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("ledger", {}),
    ("ledger", {"half_life": 30.0, "seed": 5}),
    ("aci", {"seed": 3}),
    ("isotonic", {}),
]


@pytest.mark.parametrize(("method", "settings"), SETTINGS)
def test_one_series_is_a_fleet_with_one_key(method: Any, settings: dict[str, Any], points: tuple[Array, Array]) -> None:
    values, y = points
    batch = tc.Forecasts.points(values)
    wanted: Any = {"coverage": [0.5, 0.8], "q": 0.3, "mean": True, "std": True, "crps": True}
    fleet = tc.Fleet(method, **settings)
    expected = fleet.run([""] * len(y), batch, y, **wanted)

    rc = tc.Recalibrator(method, **settings)
    run = rc.run(batch, y, **wanted)
    for name in ("lower", "upper", "quantiles", "mean", "std", "crps"):
        np.testing.assert_array_equal(getattr(run, name), getattr(expected, name), err_msg=name, strict=True)
    # The series taken out of the fleet has its scale with it.
    assert rc.to_bytes() == fleet.recalibrator("").to_bytes()

    loop, stream = tc.Recalibrator(method, **settings), tc.Stream(method, **settings)
    assert expected.lower is not None and expected.upper is not None
    for row, (value, outcome) in enumerate(zip(values, y, strict=True)):
        interval = (expected.lower[row, 1], expected.upper[row, 1])
        assert loop.recalibrate(tc.Point(value)).interval(0.8) == interval
        loop.observe(tc.Point(value), outcome)
        ticket, calibrated = stream.issue(tc.Point(value))
        assert calibrated.interval(0.8) == interval == stream.forecast(ticket).interval(0.8)
        stream.resolve(ticket, outcome)
    assert loop.to_bytes() == rc.to_bytes() == stream.recalibrator.to_bytes()


def test_late_outcomes_are_those_of_a_fleet(points: tuple[Array, Array]) -> None:
    values, y = points
    fleet, stream = tc.Fleet(delay=2), tc.Stream()
    expected = fleet.run([""] * len(y), tc.Forecasts.points(values), y, coverage=0.8)
    assert expected.lower is not None
    for row, value in enumerate(values):
        if row > 2:
            stream.resolve(row - 3, y[row - 3])
        assert stream.issue(tc.Point(value))[1].interval(0.8)[0] == expected.lower[row]
    assert stream.pending == [297, 298, 299]


def test_before_the_first_error_a_tenth_of_its_size() -> None:
    rc = tc.Recalibrator()
    for value, sigma in ((20.0, 2.0), (-3.0, 0.1 * 3.0), (0.0, 1.0)):
        calibrated = rc.recalibrate(tc.Point(value))
        assert calibrated.base == tc.Gaussian(value, sigma)
        assert calibrated.interval(0.8) == rc.recalibrate(tc.Gaussian(value, sigma)).interval(0.8)
    # Asking taught nothing; nor does an error of zero.
    rc.observe(tc.Point(20.0), 20.0)
    assert rc.recalibrate(tc.Point(10.0)).base == tc.Gaussian(10.0, 1.0)
    # √(π/2) times the mean absolute error, which is the standard deviation of a normal distribution with it.
    rc.observe(tc.Point(20.0), 24.0)
    assert rc.recalibrate(tc.Point(10.0)).base == tc.Gaussian(10.0, 1.2533141373155003 * 4.0)


def test_distributions_leave_the_scale_alone(points: tuple[Array, Array]) -> None:
    values, y = points
    rc = tc.Recalibrator()
    rc.run(tc.Forecasts.points(values), y)
    before = rc.recalibrate(tc.Point(1.0)).base
    rc.observe(tc.Gaussian(0.0, 1.0), 100.0)
    assert rc.recalibrate(tc.Point(1.0)).base == before


@pytest.mark.parametrize("half_life", [None, 30.0])
def test_states_keep_the_scale(half_life: float | None, points: tuple[Array, Array]) -> None:
    values, y = points
    whole, half = tc.Recalibrator(half_life=half_life), tc.Recalibrator(half_life=half_life)
    whole.run(tc.Forecasts.points(values), y)
    half.run(tc.Forecasts.points(values[:150]), y[:150])
    twins = [tc.Recalibrator.from_bytes(half.to_bytes()), pickle.loads(pickle.dumps(half)), half.copy(), copy.deepcopy(half)]
    for twin in twins:
        twin.run(tc.Forecasts.points(values[150:]), y[150:])
        assert twin.to_bytes() == whole.to_bytes()


def test_a_stream_keeps_scale_and_pending_points(points: tuple[Array, Array]) -> None:
    values, y = points
    stream = tc.Stream(half_life=50.0)
    for value in values[:100]:
        stream.issue(tc.Point(value))
    stream.issue(tc.Gaussian(3.0, 1.0))
    stream.resolve_all(range(40), y[:40])
    twins = [stream, tc.Stream.from_bytes(stream.to_bytes()), pickle.loads(pickle.dumps(stream))]
    for twin in twins:
        twin.resolve_all(range(40, 99), y[40:99])
        twin.expire(99)
        twin.resolve(100, 2.0)
    states = {twin.to_bytes() for twin in twins}
    assert len(states) == 1
    # Nothing is pending, so it is the state of a recalibrator too.
    loaded = tc.Recalibrator.from_bytes(states.pop())
    assert loaded.recalibrate(tc.Point(7.0)).interval(0.8) == stream.recalibrator.recalibrate(tc.Point(7.0)).interval(0.8)


def test_without_points_states_are_those_of_rust() -> None:
    rc, stream = tc.Recalibrator(), tc.Stream()
    rc.recalibrate(tc.Point(4.0))
    assert rc.to_bytes() == tc.Recalibrator().to_bytes() and rc.to_bytes().startswith(b"TRUECAST")
    ticket, _ = stream.issue(tc.Point(4.0))
    assert stream.to_bytes().startswith(b"TCPOINTS")
    stream.expire(ticket)
    assert stream.to_bytes().startswith(b"TRUECAST")
    rc.observe(tc.Gaussian(0.0, 1.0), 2.0)
    assert rc.to_bytes().startswith(b"TRUECAST")
    rc.observe(tc.Point(3.0), 2.0)
    state = rc.to_bytes()
    # Magic, version, length, checksum, the learned scale (a byte that it is there, then 8, 1, 8 and 8), no points, the snapshot.
    assert state[:10] == b"TCPOINTS\x01\x00"
    assert state[22] == 1 and state[22 + 26] == 0 and state[22 + 27 + 2 :].startswith(b"TRUECAST")
    assert len(state) == 22 + 29 + len(state[state.index(b"TRUECAST") :])


def test_damaged_states_are_refused(points: tuple[Array, Array]) -> None:
    rc = tc.Recalibrator()
    rc.run(tc.Forecasts.points(points[0]), points[1])
    state = rc.to_bytes()
    with pytest.raises(errors.WrongLengthError):
        tc.Recalibrator.from_bytes(state[:-1])
    with pytest.raises(errors.WrongChecksumError):
        tc.Recalibrator.from_bytes(state[:-1] + bytes([state[-1] ^ 1]))
    with pytest.raises(errors.UnsupportedVersionError, match="999"):
        tc.Stream.from_bytes(state[:8] + (999).to_bytes(2, "little") + state[10:])
    pending = tc.Stream()
    pending.issue(tc.Point(1.0))
    with pytest.raises(errors.MalformedError, match="load it as a Stream"):
        tc.Recalibrator.from_bytes(pending.to_bytes())
    for broken in (sealed(state, 23, b"\xff" * 8), sealed(pending.to_bytes(), 22 + 2, b"\x07")):
        with pytest.raises(errors.SnapshotError):
            tc.Stream.from_bytes(broken)


def sealed(state: bytes, at: int, to: bytes) -> bytes:
    """The state with some bytes replaced and a checksum that says all is well."""
    import zlib

    payload = (state[:at] + to + state[at + len(to) :])[22:]
    return state[:18] + zlib.crc32(payload).to_bytes(4, "little") + payload


def test_what_is_refused_teaches_nothing(points: tuple[Array, Array]) -> None:
    values, y = points
    rc, stream = tc.Recalibrator(), tc.Stream()
    # An outcome that no number is, and an error that is none: before and after the scale has begun.
    for _ in range(2):
        before, pending = rc.to_bytes(), stream.issue(tc.Point(1.0))[0]
        kept = stream.to_bytes()
        for outcome in (np.nan, np.inf):
            with pytest.raises(errors.NotFiniteError, match="outcome must be finite"):
                rc.observe(tc.Point(1.0), outcome)
            with pytest.raises(errors.NotFiniteError, match="outcome must be finite"):
                stream.resolve(pending, outcome)
            with pytest.raises(errors.NotFiniteError, match="outcome must be finite"):
                stream.resolve_all([pending], [outcome])
        with pytest.raises(errors.UnknownTicketError):
            stream.resolve_all([pending, 999], [1.0, 2.0])
        with pytest.raises(errors.TruecastError):
            rc.observe(tc.Point(-1.7e308), 1.7e308)
        assert rc.to_bytes() == before and stream.to_bytes() == kept
        rc.observe(tc.Point(1.0), 2.0)
        stream.resolve(pending, 2.0)
    before = rc.to_bytes()
    holes = y.copy()
    holes[7] = np.nan
    with pytest.raises(errors.NotFiniteError, match="row 7"):
        rc.run(tc.Forecasts.points(values), holes)
    assert rc.to_bytes() == before
    rc.run(tc.Forecasts.points(values), holes, missing=True)
    assert rc.steps == 2 + 299


def test_a_batch_gives_its_points_back() -> None:
    batch = tc.Forecasts.points([3.0, 4.0])
    assert list(batch) == [tc.Point(3.0), tc.Point(4.0)]
    assert len(tc.Forecasts.of(batch)) == 2
