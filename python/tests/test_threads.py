"""Any thread may call at any time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

import truecast as tc


def hammer(work: Callable[[int], None], threads: int = 8) -> None:
    """Runs the work in several threads at once, and raises what one of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(threads)

    def guarded(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as failure:  # a panic is not an Exception
            failures.append(failure)

    pool = [threading.Thread(target=guarded, args=(number,)) for number in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    if failures:
        raise failures[0]


def test_one_recalibrator_by_many_threads() -> None:
    rc = tc.Recalibrator()
    batch = tc.Forecasts.gaussian(np.zeros(500), np.ones(500))
    y = np.random.default_rng(0).normal(size=500)

    def work(number: int) -> None:
        forecast = tc.Gaussian(float(number), 1.0)
        for step in range(300):
            low, high = rc.recalibrate(forecast).interval(0.8)
            assert low <= high
            rc.observe(forecast, number + 0.01 * step)
            if step % 100 == 0:
                rc.run(batch, y, coverage=0.8)
                tc.Recalibrator.from_bytes(rc.to_bytes())
            if step % 150 == 0:
                rc.recalibrate(scipy.stats.gamma(2.0))  # calls into Python, from outside of the lock
            assert rc.certificate().holds

    hammer(work)
    assert rc.steps == 8 * (300 + 3 * 500)


def test_one_stream_by_many_threads() -> None:
    stream = tc.Stream()

    def work(number: int) -> None:
        for step in range(200):
            ticket, _ = stream.issue(tc.Gaussian(0.0, 1.0))
            if step % 3:
                stream.resolve(ticket, float(number))
            else:
                stream.expire(ticket)

    hammer(work)
    assert (stream.issued, stream.pending, stream.steps) == (1600, [], 8 * 133)


def test_one_fleet_by_many_threads() -> None:
    fleet = tc.Fleet()
    rng = np.random.default_rng(4)
    mu, y = rng.normal(size=200), rng.normal(size=200)

    def work(number: int) -> None:
        # Each thread has series of its own, so that the order of batches does not matter.
        keys = [f"{number}-{row % 5}" for row in range(200)]
        for _ in range(5):
            fleet.run(keys, tc.Forecasts.gaussian(mu, np.ones(200)), y, coverage=0.8)

    hammer(work)
    alone = tc.Fleet()
    for _ in range(5):
        alone.run([f"3-{row % 5}" for row in range(200)], tc.Forecasts.gaussian(mu, np.ones(200)), y)
    assert len(fleet) == 40 and fleet.rows == 8 * 5 * 200
    assert fleet.recalibrator("3-2").to_bytes() == alone.recalibrator("3-2").to_bytes()


def test_a_distribution_that_asks_the_recalibrator_itself() -> None:
    """Calling back must not meet a lock that the same thread holds."""
    rc = tc.Recalibrator()

    class Nested:
        def cdf(self, y: Any) -> Any:
            return tc.Gaussian(0.0, 1.0).cdf(y)

        def ppf(self, q: Any) -> Any:
            rc.observe(tc.Gaussian(0.0, 1.0), 0.5)
            return tc.Gaussian(0.0, 1.0).ppf(q)

    rc.recalibrate(Nested())
    rc.observe(Nested(), 1.0)
    assert rc.steps == 3
