"""Proper scores over arrays: lower is better. The outcome comes first, then the forecast.

>>> import truecast as tc
>>> tc.scores.pinball([4.0, 0.0], 2.0, 0.75)
array([1.5, 0.5])
"""

from ._core import crps_ensemble, crps_normal, crps_quantile, interval_score, pinball

__all__ = ["crps_ensemble", "crps_normal", "crps_quantile", "interval_score", "pinball"]
