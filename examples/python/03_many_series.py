"""Two thousand shops, each with a forecaster that is wrong in its own way: one call a day calibrates all of them.

pip install truecast
python examples/python/03_many_series.py
"""

from __future__ import annotations

import time

import numpy as np

import truecast as tc

SHOPS, DAYS, SEED = 2000, 200, 3


def main() -> None:
    rng = np.random.default_rng(SEED)
    names = [f"shop {number}" for number in range(SHOPS)]
    spread = rng.uniform(0.4, 2.5, SHOPS)  # of the outcomes, in standard deviations of the forecasts
    bias = rng.normal(0.0, 0.5, SHOPS)

    fleet = tc.Fleet()
    raw, honest = np.zeros(SHOPS), np.zeros(SHOPS)
    seconds = 0.0
    for _ in range(DAYS):
        mean, std = rng.uniform(20.0, 80.0, SHOPS), rng.uniform(2.0, 6.0, SHOPS)
        sold = mean + std * (bias + spread * rng.standard_normal(SHOPS))
        start = time.perf_counter()
        # Every row is calibrated with what its shop knew before it, then its outcome is learned.
        run = fleet.run(names, tc.Forecasts.gaussian(mean, std), sold, coverage=0.8)
        seconds += time.perf_counter() - start
        assert run.lower is not None and run.upper is not None
        honest += (run.lower <= sold) & (sold <= run.upper)
        raw += np.abs(sold - mean) <= 1.2815515655446004 * std

    for name, hits in (("as forecast", raw), ("calibrated", honest)):
        share = hits / DAYS
        print(f"{name:<12} 80 % intervals hold {share.mean():.1%}; by shop from {share.min():.1%} to {share.max():.1%}")
    print(
        f"{SHOPS * DAYS / seconds:,.0f} forecasts a second; the state of {len(fleet)} shops is {len(fleet.to_bytes()) / 1e6:.1f} MB"
    )
    print(f"the certificate of all shops holds: {fleet.certificate().holds}")


if __name__ == "__main__":
    main()
