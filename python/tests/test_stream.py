"""Streams: late outcomes, tickets, states."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

import truecast as tc
from truecast import errors


def test_outcomes_at_once_are_those_of_a_recalibrator(method: Any) -> None:
    rng = np.random.default_rng(2)
    stream, rc = tc.Stream(method, seed=9), tc.Recalibrator(method, seed=9)
    for y in rng.normal(0.0, 2.0, 100).tolist():
        forecast = tc.Gaussian(0.5, 1.0)
        ticket, calibrated = stream.issue(forecast)
        assert calibrated == rc.recalibrate(forecast)
        assert stream.forecast(ticket) == calibrated
        stream.resolve(ticket, y)
        rc.observe(forecast, y)
    assert stream.recalibrator.to_bytes() == rc.to_bytes() == stream.to_bytes()
    assert (stream.steps, stream.issued, stream.pending) == (100, 100, [])


def test_late_outcomes_and_resumed_streams() -> None:
    rng = np.random.default_rng(3)
    forecasts = [tc.Gaussian(m, 1.0) if i % 3 else tc.Samples(rng.normal(m, 1.0, 5)) for i, m in enumerate(rng.normal(size=60))]
    outcomes = rng.normal(0.0, 2.0, 60).tolist()
    stream = tc.Stream(seed=1)
    twin = tc.Stream(seed=1)
    tickets = []
    for i, forecast in enumerate(forecasts):
        tickets.append(stream.issue(forecast)[0])
        twin.issue(forecast)
        if i % 10 == 9:
            twin = pickle.loads(pickle.dumps(tc.Stream.from_bytes(twin.to_bytes())))
        if i >= 5:  # five steps late
            stream.resolve(tickets[i - 5], outcomes[i - 5])
            twin.resolve(tickets[i - 5], outcomes[i - 5])
    assert stream.pending == tickets[55:] and stream.to_bytes() == twin.to_bytes()
    stream.resolve_all(tickets[55:], outcomes[55:])
    for ticket, y in zip(tickets[55:], outcomes[55:], strict=True):
        twin.resolve(ticket, y)
    assert stream.to_bytes() == twin.to_bytes()
    stop_loss = stream.certificate().stop_loss
    assert stream.certificate().holds and stop_loss is not None and stop_loss.outcomes == 60


def test_wrong_tickets() -> None:
    stream = tc.Stream()
    ticket, _ = stream.issue(tc.Gaussian(0.0, 1.0))
    with pytest.raises(errors.UnknownTicketError, match="ticket 1 was never issued") as unknown:
        stream.resolve(1, 0.0)
    assert unknown.value.ticket == 1 and isinstance(unknown.value, errors.TicketError)
    with pytest.raises(errors.NotFiniteError):
        stream.resolve(ticket, float("nan"))
    assert stream.pending == [0]
    stream.expire(ticket)
    with pytest.raises(errors.ClosedTicketError, match="ticket 0 was resolved or expired before"):
        stream.resolve(ticket, 0.0)
    with pytest.raises((OverflowError, TypeError)):
        stream.resolve(-1, 0.0)
    assert (stream.steps, stream.issued) == (0, 1)
    one, _ = stream.issue(tc.Gaussian(0.0, 1.0))
    with pytest.raises(errors.LengthMismatchError):
        stream.resolve_all([one], [1.0, 2.0])
    with pytest.raises(errors.ClosedTicketError):
        stream.resolve_all([one, one], [1.0, 2.0])
    assert stream.pending == [one]
    with pytest.raises(errors.MalformedError, match="load it as a Stream"):
        tc.Recalibrator.from_bytes(stream.to_bytes())


def test_foreign_forecasts_wait_as_tables() -> None:
    stream = tc.Stream()
    ticket, calibrated = stream.issue(scipy.stats.gamma(3.0))
    assert stream.forecast(ticket) == calibrated
    again = tc.Stream.from_bytes(stream.to_bytes())
    again.resolve(ticket, 2.0)
    stream.resolve(ticket, 2.0)
    assert again.to_bytes() == stream.to_bytes()


def test_it_says_what_it_is() -> None:
    stream = tc.Stream(seed=3)
    stream.issue(tc.Gaussian(0.0, 1.0))
    assert repr(stream) == "Stream(method='experts', seed=3, steps=0, pending=1)"
    assert "uniform" in stream._repr_html_()
    assert tc.Stream.paper(10).method == "ledger"
