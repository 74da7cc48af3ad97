"""Makes nixtla_cross_validation.csv with statsforecast: ``pip install statsforecast==2.1.1``, then run this file.

The frame is kept because statsforecast wants a pandas older than 3, which the tests do not. Its intervals are those of a random walk
and of a seasonal naive forecast on series that jump now and then: too wide on quiet days, blind to the jumps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from statsforecast import StatsForecast
from statsforecast.models import Naive, SeasonalNaive


def series() -> pd.DataFrame:
    """Three daily series with a weekly pattern and jumps."""
    rng = np.random.default_rng(20261116)
    days = pd.date_range("2024-01-01", periods=420, freq="D")
    frames = []
    for name, weekly, jump in (("bread", 4.0, 12.0), ("milk", 1.0, 6.0), ("tea", 8.0, 3.0)):
        level = 50.0 + np.cumsum(np.where(rng.random(420) < 0.05, rng.normal(0.0, jump, 420), rng.normal(0.0, 0.4, 420)))
        y = level + weekly * np.sin(2.0 * np.pi * np.arange(420) / 7.0) + rng.normal(0.0, 0.5, 420)
        frames.append(pd.DataFrame({"unique_id": name, "ds": days, "y": y}))
    together: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return together


if __name__ == "__main__":
    forecaster = StatsForecast(models=[Naive(), SeasonalNaive(season_length=7)], freq="D")
    frame = forecaster.cross_validation(df=series(), h=3, step_size=1, n_windows=200, level=[80, 95])
    frame.to_csv(Path(__file__).with_name("nixtla_cross_validation.csv"), index=False, float_format="%.4f")
