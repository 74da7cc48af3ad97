"""Calibrated distributions of any skpro regressor.

>>> from sklearn.datasets import load_diabetes
>>> from sklearn.linear_model import LinearRegression
>>> from skpro.regression.residual import ResidualDouble
>>> from truecast.skpro import OnlineCalibratedProbaRegressor
>>> X, y = load_diabetes(return_X_y=True, as_frame=True)
>>> model = OnlineCalibratedProbaRegressor(ResidualDouble(LinearRegression())).fit(X[:400], y[:400])
>>> model.predict_interval(X[400:], coverage=0.9).columns.tolist()
[('target', 0.9, 'lower'), ('target', 0.9, 'upper')]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from skpro.regression.base import BaseProbaRegressor  # type: ignore[import-untyped, unused-ignore]

from ._core import Forecasts, Recalibrated, Recalibrator

if TYPE_CHECKING:
    from ._core import _Method

__all__ = ["OnlineCalibratedProbaRegressor"]

#: Probabilities at which distributions that are not normal are asked.
LEVELS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99)

# Middles of equal shares, for distributions as skpro has them.
_SHARES = (np.arange(200) + 0.5) / 200.0


class OnlineCalibratedProbaRegressor(BaseProbaRegressor):
    """Any probabilistic regressor, with distributions that are calibrated and go on learning with `update`.

    `fit` gives the first rows to the regressor and the others, in their order, to the calibration, so that it learns from
    no forecast whose outcome the regressor has seen. Normal distributions are taken as they are, others by their quantiles.

    Parameters
    ----------
    regressor : skpro regressor
    calibration_size : float
        Share of the rows of `fit` that calibration learns from, from 0 (nothing is learned in `fit`) to less than 1.
    method, stop_loss, guard, experts, lags, half_life, prior, randomised, thresholds, bounds, seed
        As of `truecast.Recalibrator`.

    Attributes
    ----------
    regressor_ : skpro regressor
        The fitted clone.
    recalibrator_ : Recalibrator
        What was learned.

    Notes
    -----
    `predict_proba` gives 200 equally probable values for each row; `predict_distribution` has the distributions themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from skpro.regression.residual import ResidualDouble
    >>> from truecast.skpro import OnlineCalibratedProbaRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = OnlineCalibratedProbaRegressor(ResidualDouble(LinearRegression()), calibration_size=0.5).fit(X[:300], y[:300])
    >>> model = model.update(X[300:], y[300:])
    >>> model.recalibrator_.steps
    292
    """

    _tags = {"capability:multioutput": False, "capability:missing": False, "capability:update": True}

    def __init__(
        self,
        regressor: Any,
        calibration_size: float = 0.3,
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
        self.regressor = regressor
        self.calibration_size = calibration_size
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

    def _fit(self, X: Any, y: Any) -> OnlineCalibratedProbaRegressor:
        if not 0.0 <= self.calibration_size < 1.0:
            raise ValueError(f"calibration_size must be at least 0 and less than 1, got {self.calibration_size!r}")
        first = len(X) - int(self.calibration_size * len(X))
        self._y_cols = y.columns
        self.regressor_ = self.regressor.clone().fit(X.iloc[:first], y.iloc[:first])
        self.recalibrator_ = Recalibrator(
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
        if first < len(X):
            self._learn(X.iloc[first:], y.iloc[first:])
        return self

    def _update(self, X: Any, y: Any, C: Any = None) -> OnlineCalibratedProbaRegressor:
        self._learn(X, y)
        self.regressor_.update(X, y)
        return self

    def _predict(self, X: Any) -> Any:
        return pd.DataFrame(self._ask(X, mean=True)["mean"], index=X.index, columns=self._y_cols)

    def _predict_quantiles(self, X: Any, alpha: list[float]) -> Any:
        columns = pd.MultiIndex.from_product([self._y_cols, alpha])
        return pd.DataFrame(self._ask(X, q=list(alpha))["quantiles"], index=X.index, columns=columns)

    def _predict_proba(self, X: Any) -> Any:
        from skpro.distributions.empirical import Empirical  # type: ignore[import-untyped, unused-ignore]

        values = self._ask(X, q=_SHARES)["quantiles"].T.reshape(-1)
        index = pd.MultiIndex.from_product([range(len(_SHARES)), X.index])
        return Empirical(pd.DataFrame(values, index=index, columns=self._y_cols), index=X.index, columns=self._y_cols)

    def predict_distribution(self, X: Any) -> list[Recalibrated]:
        """The calibrated distributions.

        Parameters
        ----------
        X : frame
            As of `fit`.

        Returns
        -------
        list of Recalibrated
        """
        self.check_is_fitted()
        forecasts = self._forecasts(self._check_X(X))
        return [self.recalibrator_.recalibrate(forecasts[row]) for row in range(len(forecasts))]

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for the tests of skpro."""
        from sklearn.linear_model import LinearRegression  # type: ignore[import-untyped, unused-ignore]
        from skpro.regression.residual import ResidualDouble  # type: ignore[import-untyped, unused-ignore]

        normal, other = ResidualDouble(LinearRegression()), ResidualDouble(LinearRegression(), dist="Laplace")
        return [{"regressor": normal}, {"regressor": other, "calibration_size": 0.5}]

    def _forecasts(self, X: Any) -> Forecasts:
        from skpro.distributions.normal import Normal  # type: ignore[import-untyped, unused-ignore]

        found = self.regressor_.predict_proba(X)
        if isinstance(found, Normal):
            mean, std = found.mean().to_numpy(dtype=np.float64), np.sqrt(found.var().to_numpy(dtype=np.float64))
            return Forecasts.gaussian(mean.reshape(-1), std.reshape(-1))
        return Forecasts.quantiles(LEVELS, found.quantile(list(LEVELS)).to_numpy(dtype=np.float64))

    def _learn(self, X: Any, y: Any) -> None:
        self.recalibrator_.run(self._forecasts(X), y.to_numpy(dtype=np.float64).reshape(-1))

    def _ask(self, X: Any, **wanted: Any) -> dict[str, Any]:
        forecasts = self._forecasts(X)
        # Without outcomes a run teaches nothing: this is recalibration, row by row, in one call.
        return dict(self.recalibrator_.run(forecasts, np.full(len(forecasts), np.nan), missing=True, **wanted).columns())
