"""Calibrated intervals and quantiles of any sktime forecaster.

>>> from sktime.datasets import load_airline
>>> from sktime.forecasting.naive import NaiveForecaster
>>> from truecast.sktime import OnlineCalibratedForecaster
>>> y = load_airline()
>>> forecaster = OnlineCalibratedForecaster(NaiveForecaster(sp=12), initial_window=120).fit(y, fh=[1, 2, 3])
>>> intervals = forecaster.predict_interval(coverage=0.9)
>>> intervals.columns.tolist()
[('Number of airline passengers', 0.9, 'lower'), ('Number of airline passengers', 0.9, 'upper')]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster, ForecastingHorizon  # type: ignore[import-untyped, unused-ignore]

from ._core import Distribution, PointScale, Quantiles, Recalibrated, Stream

if TYPE_CHECKING:
    from ._core import _Method

__all__ = ["OnlineCalibratedForecaster"]

#: Probabilities at which a forecaster with distributions of its own is asked.
LEVELS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99)


class OnlineCalibratedForecaster(BaseForecaster):
    """Any forecaster, with distributions that are calibrated for each horizon and go on learning with `update`.

    `fit` goes through the series as it happened: the forecaster is fitted to the first values, forecasts, is updated with
    the next value, forecasts again. Each horizon has a stream of its own, in which the outcome of a forecast *h* steps
    ahead arrives *h* steps later. A forecaster without quantiles gives points, whose scale is learned for each horizon.

    Parameters
    ----------
    forecaster : sktime forecaster
    initial_window : int or float, optional
        How many values, or which share of them, the forecaster is first fitted to; by default a third, and 10 at least.
    update_params : bool
        Fit the forecaster anew to each value (as far as its `update` does); if not, only its cutoff moves.
    scale_half_life : float, optional
        For points: residuals after which an old one counts half in the learned scale.
    method, stop_loss, guard, experts, lags, half_life, prior, randomised, thresholds, bounds, seed
        As of `truecast.Recalibrator`.

    Attributes
    ----------
    forecaster_ : sktime forecaster
        The fitted clone, which has seen all values.
    streams_ : dict of int to Stream
        What was learned, by steps ahead.

    Notes
    -----
    With exogenous data, forecasts whose horizon ends after it are not learned from: their features are not known.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from sktime.forecasting.trend import TrendForecaster
    >>> from truecast.sktime import OnlineCalibratedForecaster
    >>> y = load_airline()
    >>> forecaster = OnlineCalibratedForecaster(TrendForecaster(), initial_window=0.8)
    >>> forecaster = forecaster.fit(y[:-12], fh=[1, 2]).update(y[-12:])
    >>> forecaster.predict_quantiles(alpha=[0.1, 0.9]).shape
    (2, 2)
    """

    _tags = {
        "capability:multivariate": False,
        "capability:exogenous": True,
        "capability:missing_values": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:insample": False,
        "capability:update": True,
        "requires-fh-in-fit": True,
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
    }

    def __init__(
        self,
        forecaster: Any,
        initial_window: float | None = None,
        update_params: bool = True,
        scale_half_life: float | None = None,
        method: _Method = "experts",
        stop_loss: float | None = 0.005,
        guard: str | None = None,
        half_life: float | None = None,
        experts: Sequence[str] | None = None,
        lags: bool = True,
        bounds: tuple[float | None, float | None] | None = None,
        prior: float | None = None,
        randomised: bool | None = None,
        thresholds: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.forecaster = forecaster
        self.initial_window = initial_window
        self.update_params = update_params
        self.scale_half_life = scale_half_life
        self.method = method
        self.stop_loss = stop_loss
        self.guard = guard
        self.half_life = half_life
        self.experts = experts
        self.lags = lags
        self.bounds = bounds
        self.prior = prior
        self.randomised = randomised
        self.thresholds = thresholds
        self.seed = seed
        super().__init__()
        self.clone_tags(forecaster, ["capability:exogenous", "X-y-must-have-same-index", "enforce_index_type"])

    def _fit(self, y: Any, X: Any, fh: Any) -> OnlineCalibratedForecaster:
        steps = self._steps(fh)
        first = self._first(len(y))
        self.forecaster_ = self.forecaster.clone()
        # A forecaster without an `update` of its own is fitted anew to all it has seen, which it must remember.
        self.forecaster_.set_config(remember_data=True)
        self.forecaster_.fit(
            y.iloc[:first], X=None if X is None else X.iloc[:first], fh=ForecastingHorizon(steps, is_relative=True)
        )
        self.streams_ = {step: self._stream() for step in steps}
        self.scales_: dict[int, PointScale] = {}
        self._seen, self._name = first, y.name
        # Forecasts that wait for their outcome: position of the outcome, steps ahead, ticket, and the point if it was one.
        self._waiting: list[tuple[int, int, int, float]] = []
        if not self._speaks():
            spread = float(np.std(y.iloc[:first])) or 1.0
            self.scales_ = {step: PointScale(spread, half_life=self.scale_half_life) for step in steps}
        self._follow(y.iloc[first:], None if X is None else X.iloc[first:], update_params=self.update_params)
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> OnlineCalibratedForecaster:
        new = y.index > self.forecaster_.cutoff[0]
        self._follow(y[new], None if X is None else X[new], update_params=update_params)
        return self

    def _predict(self, fh: Any, X: Any) -> Any:
        calibrated = self._calibrated(fh, X)
        return pd.Series([each.mean() for each in calibrated], index=self._index(fh), name=self._name)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: list[float]) -> Any:
        rows = [[each.quantile(float(a)) for a in alpha] for each in self._calibrated(fh, X)]
        return pd.DataFrame(rows, index=self._index(fh), columns=pd.MultiIndex.from_product([self._get_varnames(), alpha]))

    def predict_distribution(self, fh: Any = None, X: Any = None) -> list[Recalibrated]:
        """The calibrated distributions of the horizon.

        Parameters
        ----------
        fh : forecasting horizon, optional
            As given to `fit`.
        X : frame, optional
            Exogenous data of the horizon.

        Returns
        -------
        list of Recalibrated
        """
        self.check_is_fitted()
        return self._calibrated(self._check_fh(fh), X)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for the tests of sktime."""
        from sktime.forecasting.naive import NaiveForecaster  # type: ignore[import-untyped, unused-ignore]
        from sktime.forecasting.trend import TrendForecaster  # type: ignore[import-untyped, unused-ignore]

        # Late windows, since the checks fit hundreds of times and sktime takes milliseconds for each step.
        trend = {"forecaster": TrendForecaster(), "initial_window": 0.8, "update_params": False}
        return [{"forecaster": NaiveForecaster(), "initial_window": 0.8}, trend]

    def _first(self, count: int) -> int:
        window = self.initial_window
        if window is None:
            return min(count, max(10, count // 3))
        first = int(window * count) if isinstance(window, float) else window
        if not 0 < first <= count:
            raise ValueError(f"initial_window must leave from 1 to {count} values, got {window!r}")
        return first

    def _stream(self) -> Stream:
        return Stream(
            self.method,
            stop_loss=self.stop_loss,
            guard=self.guard,
            half_life=self.half_life,
            experts=self.experts,
            lags=self.lags,
            bounds=self.bounds,
            prior=self.prior,
            randomised=self.randomised,
            thresholds=self.thresholds,
            seed=self.seed,
        )

    def _steps(self, fh: Any) -> list[int]:
        return [int(step) for step in fh.to_relative(self.cutoff).to_numpy()]

    def _index(self, fh: Any) -> Any:
        return fh.to_absolute_index(self.cutoff)

    def _speaks(self) -> bool:
        """Whether the forecaster has distributions of its own."""
        return bool(self.forecaster_.get_tag("capability:pred_int", False))

    def _forecasts(self, steps: list[int], X: Any) -> list[tuple[Distribution, float]]:
        """The forecaster's distributions, each with its point where that is all it said."""
        fh = ForecastingHorizon(steps, is_relative=True)
        if self._speaks():
            table = self.forecaster_.predict_quantiles(fh=fh, X=X, alpha=list(LEVELS)).to_numpy(dtype=np.float64)
            return [(Quantiles(LEVELS, row), np.nan) for row in table]
        points = np.asarray(self.forecaster_.predict(fh=fh, X=X), dtype=np.float64).reshape(-1).tolist()
        return [(self.scales_[step].forecast(point), point) for step, point in zip(steps, points, strict=True)]

    def _calibrated(self, fh: Any, X: Any) -> list[Recalibrated]:
        steps = self._steps(fh)
        forecasts = self._forecasts(steps, X)
        return [self.streams_[step].recalibrator.recalibrate(each) for step, (each, _) in zip(steps, forecasts, strict=True)]

    def _follow(self, y: Any, X: Any, *, update_params: bool) -> None:
        """Forecasts, takes the next value, resolves what was waiting for it, and so on."""
        steps = sorted(self.streams_)
        for row in range(len(y)):
            if X is None or row + steps[-1] <= len(X):
                ahead = None if X is None else X.iloc[row : row + steps[-1]]
                for step, (forecast, point) in zip(steps, self._forecasts(steps, self._needed(ahead, steps)), strict=True):
                    ticket, _ = self.streams_[step].issue(forecast)
                    self._waiting.append((self._seen + step - 1, step, ticket, point))
            value = y.iloc[row : row + 1]
            self.forecaster_.update(value, X=None if X is None else X.iloc[row : row + 1], update_params=update_params)
            outcome = float(value.iloc[0])
            for _, step, ticket, point in (late for late in self._waiting if late[0] == self._seen):
                self.streams_[step].resolve(ticket, outcome)
                if self.scales_:
                    self.scales_[step].observe(point, outcome)
            self._waiting = [late for late in self._waiting if late[0] > self._seen]
            self._seen += 1

    @staticmethod
    def _needed(ahead: Any, steps: list[int]) -> Any:
        """The rows of the horizon alone."""
        return None if ahead is None else ahead.iloc[[step - 1 for step in steps]]
