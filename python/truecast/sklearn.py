"""Calibrated distributions of any scikit-learn regressor, learned online.

>>> from sklearn.datasets import make_regression
>>> from sklearn.linear_model import BayesianRidge
>>> from truecast.sklearn import OnlineCalibratedRegressor
>>> X, y = make_regression(400, 3, noise=5.0, random_state=0)
>>> model = OnlineCalibratedRegressor(BayesianRidge()).fit(X[:300], y[:300])
>>> model.predict_interval(X[300:], coverage=0.9).shape
(100, 2)
>>> model = model.partial_fit(X[300:], y[300:])    # forecasts, then learns
>>> model.recalibrator_.steps
190
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils import _safe_indexing, column_or_1d, get_tags  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data  # type: ignore[import-untyped, unused-ignore]

from ._core import Forecasts, PointScale, Recalibrated, Recalibrator

if TYPE_CHECKING:
    from ._core import _Method

__all__ = ["OnlineCalibratedRegressor"]

_Array: TypeAlias = NDArray[np.float64]


class OnlineCalibratedRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Any regressor, with predictive distributions that are calibrated and go on learning.

    What the regressor says is understood in one of three ways: a mean with a standard deviation if its ``predict`` has
    ``return_std``; quantiles if there are several regressors, one for each, or if `quantiles` names its columns; else a
    point, whose scale is learned from residuals.

    No forecast that the calibration learns from is made by a model that has seen its outcome: `fit` gives the first rows to
    the regressor and the others, in their order, to the calibration. Put rows in the order in which they were observed.

    Parameters
    ----------
    estimator : regressor, or mapping of float to regressor
        The regressor; or, for each probability, the regressor of that quantile.
    quantiles : sequence of float, optional
        The probabilities, increasing, that the columns of a single regressor's ``predict`` stand for.
    calibration_size : float
        Share of the rows of `fit` that calibration learns from, from 0 (nothing is learned in `fit`) to less than 1.
    refits : int
        How often `fit` fits the regressor anew, evenly over the rows of calibration, the last time on all rows. With 0
        it stays fitted to the first rows.
    scale_half_life : float, optional
        For points: residuals after which an old one counts half in the learned scale.
    method, stop_loss, guard, experts, lags, half_life, prior, randomised, thresholds, bounds, seed
        As of `truecast.Recalibrator`.

    Attributes
    ----------
    estimator_ : regressor, or dict of float to regressor
        The fitted clone.
    recalibrator_ : Recalibrator
        What was learned.
    scale_ : PointScale or None
        The learned scale of points.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Only where the names of all features are text.

    Notes
    -----
    A standard deviation of zero is no distribution and is refused.

    Examples
    --------
    Quantiles from three gradient-boosted models:

    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from truecast.sklearn import OnlineCalibratedRegressor
    >>> models = {q: GradientBoostingRegressor(loss="quantile", alpha=q, n_estimators=20) for q in (0.1, 0.5, 0.9)}
    >>> X = np.linspace(0.0, 1.0, 300).reshape(-1, 1)
    >>> y = np.sin(40.0 * np.arange(300)) * X[:, 0]
    >>> model = OnlineCalibratedRegressor(models).fit(X, y)
    >>> model.predict_quantiles(X[:4], [0.25, 0.75]).shape
    (4, 2)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        quantiles: Sequence[float] | None = None,
        calibration_size: float = 0.3,
        refits: int = 0,
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
        self.estimator = estimator
        self.quantiles = quantiles
        self.calibration_size = calibration_size
        self.refits = refits
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

    if TYPE_CHECKING:
        # scikit-learn makes it of the arguments of `score`.
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> OnlineCalibratedRegressor: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(each).input_tags for each in self._parts(self.estimator)]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        return tags

    def fit(self, X: Any, y: Any) -> OnlineCalibratedRegressor:
        """Fits the regressor to the first rows, and the calibration to its forecasts of the others.

        Parameters
        ----------
        X : array_like or frame, a row for each sample
        y : array_like

        Returns
        -------
        self
        """
        X, y = self._checked(X, y, reset=True)
        if not 0.0 <= self.calibration_size < 1.0:
            raise ValueError(f"calibration_size must be at least 0 and less than 1, got {self.calibration_size!r}")
        if self.refits < 0:
            raise ValueError(f"refits must be 0 or more, got {self.refits!r}")
        rows = len(y)
        first = rows - int(self.calibration_size * rows)
        self._begin(_safe_indexing(X, slice(0, first)), y[:first])
        ends = np.linspace(first, rows, max(self.refits, 1) + 1).astype(int).tolist()
        for start, end in zip(ends[:-1], ends[1:], strict=True):
            if end > start:
                self._learn(_safe_indexing(X, slice(start, end)), y[start:end])
            if self.refits and end > first:
                self.estimator_ = self._fitted(_safe_indexing(X, slice(0, end)), y[:end])
        return self

    def partial_fit(self, X: Any, y: Any) -> OnlineCalibratedRegressor:
        """Forecasts the rows, learns how wrong that was, and then lets the regressor learn them if it has ``partial_fit``.

        Before anything was fitted there is nothing to forecast with: the first rows go to the regressor's ``partial_fit``,
        or to `fit` if it has none.

        Parameters
        ----------
        X : array_like or frame
        y : array_like

        Returns
        -------
        self
        """
        online = all(hasattr(each, "partial_fit") for each in self._parts(self.estimator))
        if hasattr(self, "estimator_"):
            X, y = self._checked(X, y, reset=False)
            self._learn(X, y)
            if online:
                for each in self._parts(self.estimator_):
                    each.partial_fit(X, y)
            return self
        if not online:
            return self.fit(X, y)
        X, y = self._checked(X, y, reset=True)
        self._begin(X, y, online=True)
        return self

    def observe(self, X: Any, y: Any) -> OnlineCalibratedRegressor:
        """Learns outcomes for the calibration alone: the regressor stays as it is.

        Parameters
        ----------
        X : array_like or frame
        y : array_like

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X, y = self._checked(X, y, reset=False)
        self._learn(X, y)
        return self

    def predict(self, X: Any) -> _Array:
        """The means of the calibrated distributions.

        Parameters
        ----------
        X : array_like or frame

        Returns
        -------
        ndarray of shape (rows,)
        """
        return self._ask(X, mean=True)["mean"]

    def predict_interval(self, X: Any, coverage: float | Sequence[float] = 0.8) -> _Array:
        """Central intervals that hold the outcome with probability `coverage`.

        Parameters
        ----------
        X : array_like or frame
        coverage : float or sequence of float

        Returns
        -------
        ndarray of shape (rows, 2), or (rows, 2, coverages) for a sequence
            Lower and upper ends.
        """
        found = self._ask(X, coverage=coverage)
        return np.stack([found["lower"], found["upper"]], axis=1)

    def predict_quantiles(self, X: Any, q: float | Sequence[float]) -> _Array:
        """Quantiles of the calibrated distributions.

        Parameters
        ----------
        X : array_like or frame
        q : float or sequence of float
            Probabilities.

        Returns
        -------
        ndarray of shape (rows,), or (rows, probabilities) for a sequence
        """
        return self._ask(X, q=q)["quantiles"]

    def predict_distribution(self, X: Any) -> list[Recalibrated]:
        """The calibrated distributions.

        Parameters
        ----------
        X : array_like or frame

        Returns
        -------
        list of Recalibrated
        """
        forecasts = self._forecasts(self._seen(X))
        return [self.recalibrator_.recalibrate(forecasts[row]) for row in range(len(forecasts))]

    def _parts(self, estimator: Any) -> list[Any]:
        return list(estimator.values()) if isinstance(estimator, Mapping) else [estimator]

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, _Array]:
        if y is None:
            raise ValueError("This OnlineCalibratedRegressor requires y to be passed, but the target y is None")
        X = self._table(X, reset=reset)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Frames stay as they are, since pipelines select columns by name: their values are the regressor's to check."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        allow_nan = get_tags(self).input_tags.allow_nan
        return validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=not allow_nan)

    def _seen(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._table(X, reset=False)

    def _fitted(self, X: Any, y: _Array, *, online: bool = False) -> Any:
        def one(estimator: Any) -> Any:
            return clone(estimator).partial_fit(X, y) if online else clone(estimator).fit(X, y)

        if isinstance(self.estimator, Mapping):
            if not self.estimator:
                raise ValueError("estimator must have at least one quantile, got none")
            return {q: one(self.estimator[q]) for q in sorted(self.estimator)}
        return one(self.estimator)

    def _begin(self, X: Any, y: _Array, *, online: bool = False) -> None:
        self.estimator_ = self._fitted(X, y, online=online)
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
        self.scale_: PointScale | None = None
        if self._says() == "points":
            # Residuals of rows that the regressor knows are too small, and may be zero; they only start the scale, as one residual.
            for start in (np.sqrt(np.mean((y - self._predicted(X)) ** 2)), np.std(y), 1.0):
                if start > 0.0:
                    self.scale_ = PointScale(float(start), half_life=self.scale_half_life)
                    break

    def _says(self) -> str:
        if isinstance(self.estimator_, dict) or self.quantiles is not None:
            return "quantiles"
        predict = inspect.signature(self.estimator_.predict)
        return "means" if "return_std" in predict.parameters else "points"

    def _predicted(self, X: Any) -> _Array:
        points: _Array = np.asarray(self.estimator_.predict(X), dtype=np.float64)
        return points.reshape(-1)

    def _forecasts(self, X: Any, y: _Array | None = None) -> Forecasts:
        """The regressor's distributions; with outcomes, the scale of points learns each before the next."""
        says = self._says()
        if says == "means":
            mean, std = self.estimator_.predict(X, return_std=True)
            return Forecasts.gaussian(np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64))
        if says == "quantiles":
            if isinstance(self.estimator_, dict):
                columns = [np.asarray(each.predict(X), dtype=np.float64) for each in self.estimator_.values()]
                return Forecasts.quantiles(list(self.estimator_), np.column_stack(columns))
            return Forecasts.quantiles(list(self.quantiles or ()), np.asarray(self.estimator_.predict(X), dtype=np.float64))
        points = self._predicted(X)
        assert self.scale_ is not None  # made with the recalibrator
        scales = np.empty_like(points)
        for row, point in enumerate(points.tolist()):
            scales[row] = self.scale_.scale
            if y is not None:
                self.scale_.observe(point, float(y[row]))
        return Forecasts.gaussian(points, scales)

    def _learn(self, X: Any, y: _Array) -> None:
        self.recalibrator_.run(self._forecasts(X, y), y)

    def _ask(self, X: Any, **wanted: Any) -> dict[str, _Array]:
        forecasts = self._forecasts(self._seen(X))
        # Without outcomes a run teaches nothing: this is recalibration, row by row, in one call.
        return self.recalibrator_.run(forecasts, np.full(len(forecasts), np.nan), missing=True, **wanted).columns()
