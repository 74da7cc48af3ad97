"""Calibrated distributions of any river regressor.

>>> from river import datasets, linear_model, preprocessing
>>> from truecast.river import OnlineCalibratedRegressor
>>> model = OnlineCalibratedRegressor(preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1))
>>> held = 0
>>> for x, y in datasets.TrumpApproval():
...     low, high = model.predict_interval_one(x, coverage=0.9)
...     held += low <= y <= high
...     model.learn_one(x, y)
>>> 0.87 < held / 1001 < 0.93
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from river import base

from ._core import Gaussian, PointScale, Recalibrated, Recalibrator

if TYPE_CHECKING:
    from ._core import _Method

__all__ = ["OnlineCalibratedRegressor"]


class OnlineCalibratedRegressor(base.Wrapper[Any], base.Regressor):
    """A river regressor with calibrated predictive distributions.

    The regressor's predictions are points: their scale is learned from residuals, each made before its outcome was learned,
    and the normal distributions that this gives are calibrated. Wrap a whole pipeline to ask it for intervals; inside of a
    pipeline the wrapper is a regressor like any other.

    Parameters
    ----------
    regressor
        The regressor, or a pipeline that ends in one.
    scale_half_life
        Residuals after which an old one counts half in the learned scale; None never forgets. Early residuals of a model
        that learns online say little about later ones.
    method
        As of `truecast.Recalibrator`.
    half_life
        Outcomes after which an old one counts half in the calibration; None never forgets.
    seed
        Key of all random draws.

    Notes
    -----
    `learn_one` learns from the forecast that the regressor makes just before it learns, as river's own wrappers do. With
    outcomes that come late, the forecast that was announced may have been another: `truecast.Stream` keeps those.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> from truecast.river import OnlineCalibratedRegressor
    >>> model = preprocessing.StandardScaler() | OnlineCalibratedRegressor(linear_model.LinearRegression(intercept_lr=0.1))
    >>> metric = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> metric.get() < 1.0
    True
    """

    def __init__(
        self,
        regressor: Any,  # a pipeline is no base.Regressor
        scale_half_life: float | None = 100.0,
        method: _Method = "experts",
        half_life: float | None = None,
        seed: int = 0,
    ) -> None:
        self.regressor = regressor
        self.scale_half_life = scale_half_life
        self.method = method
        self.half_life = half_life
        self.seed = seed
        self.recalibrator = Recalibrator(method, half_life=half_life, seed=seed)
        self._scale: PointScale | None = None

    @property
    def _wrapped_model(self) -> Any:
        return self.regressor

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, preprocessing

        yield {"regressor": preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)}

    def predict_distribution_one(self, x: dict[Any, Any]) -> Recalibrated:
        """The calibrated distribution of the outcome.

        Parameters
        ----------
        x
            A dictionary of features.

        Returns
        -------
        Recalibrated
        """
        return self.recalibrator.recalibrate(self._forecast(self._point(x)))

    def predict_interval_one(self, x: dict[Any, Any], coverage: float = 0.8) -> tuple[float, float]:
        """The central interval that holds the outcome with probability `coverage`.

        Parameters
        ----------
        x
            A dictionary of features.
        coverage
            The probability.

        Returns
        -------
        tuple of float
            The lower and the upper end.
        """
        return self.predict_distribution_one(x).interval(coverage)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> float:
        """The mean of the calibrated distribution.

        Parameters
        ----------
        x
            A dictionary of features.

        Returns
        -------
        float
        """
        return self.recalibrator.recalibrate(self._forecast(self._point(x, **kwargs))).mean()

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        """Learns how wrong the forecast was, and then lets the regressor learn.

        Parameters
        ----------
        x
            A dictionary of features.
        y
            The outcome.
        """
        point = self._point(x)
        self.recalibrator.observe(self._forecast(point), y)
        if self._scale is None and y != point:
            self._scale = PointScale(abs(y - point), half_life=self.scale_half_life)
        elif self._scale is not None:
            self._scale.observe(point, y)
        self.regressor.learn_one(x, y, **kwargs)

    def _point(self, x: dict[Any, Any], **kwargs: Any) -> float:
        return float(self.regressor.predict_one(x, **kwargs))

    def _forecast(self, point: float) -> Gaussian:
        """Until there is a residual, the unit of the outcomes is the only scale that is known."""
        return Gaussian(point, 1.0) if self._scale is None else self._scale.forecast(point)
