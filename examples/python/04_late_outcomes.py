"""Outcomes that come days later, out of order, or never; and a service that restarts in between.

A courier forecasts how long deliveries take. The truth is known when a parcel arrives: after many others were sent. One in
twenty is never heard of again.

    pip install truecast
    python examples/python/04_late_outcomes.py
"""

from __future__ import annotations

import heapq

import numpy as np

import truecast as tc

PARCELS, PER_DAY, SEED = 4000, 20, 4


def main() -> None:
    rng = np.random.default_rng(SEED)
    stream = tc.Stream()
    on_the_way: list[tuple[float, int, float]] = []  # when it arrives, ticket, how long it took
    intervals: dict[int, tuple[tuple[float, float], tuple[float, float]]] = {}
    raw: list[bool] = []
    honest: list[bool] = []
    for parcel in range(PARCELS):
        now = parcel / PER_DAY
        while on_the_way and on_the_way[0][0] <= now:
            _, ticket, took = heapq.heappop(on_the_way)
            for held, (low, high) in zip((raw, honest), intervals.pop(ticket), strict=True):
                held.append(low <= took <= high)
            stream.resolve(ticket, took)

        distance = rng.uniform(1.0, 4.0)
        forecast = tc.LogNormal(np.log(distance), 0.15)  # days; in truth slower, and less certain
        ticket, calibrated = stream.issue(forecast)
        took = distance * 1.2 * float(np.exp(0.35 * rng.standard_normal()))
        if rng.random() < 0.05:
            stream.expire(ticket)
        else:
            intervals[ticket] = (forecast.interval(0.9), calibrated.interval(0.9))
            heapq.heappush(on_the_way, (now + took, ticket, took))

        if parcel == PARCELS // 2:
            state = stream.to_bytes()  # with all that is on the way
            stream = tc.Stream.from_bytes(state)
            print(f"restarted from {len(state):,} bytes, {len(stream.pending)} parcels on the way")

    print(f"of {len(raw)} parcels, 90 % intervals held {np.mean(raw):.1%} as forecast and {np.mean(honest):.1%} calibrated")
    print(f"{stream.issued} issued, {stream.steps} learned, {len(stream.pending)} still on the way")
    print(f"the certificate holds: {stream.certificate().holds}")


if __name__ == "__main__":
    main()
