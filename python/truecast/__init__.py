"""Honest uncertainty for any forecaster, on any stream.

Give Truecast the predictive distributions of a forecaster, one for each step, and the outcomes as they come. It gives back
distributions that are calibrated (an 80 % interval holds the outcome 80 % of the time), even on data chosen by an adversary, and that
lose nothing in accuracy.

>>> import truecast as tc
>>> rc = tc.Recalibrator()
>>> forecast = tc.Gaussian(20.0, 2.0)               # or a SciPy distribution, quantiles, samples, ...
>>> calibrated = rc.recalibrate(forecast)           # pure
>>> low, high = calibrated.interval(0.8)
>>> rc.observe(forecast, 23.5)                      # the only mutation
>>> rc.certificate().holds
True

The few types: a `Distribution` is what goes in and comes out; a `Recalibrator` is for outcomes that come at once, a `Stream` for those
that come late, a `Fleet` for many series by key. `Forecasts` are batches for `Recalibrator.run` and `Fleet.run`. `calibrate`, `evaluate`
and `compare` take whole frames of pandas, Polars, PyArrow and others. `scores` has scores over arrays, `errors` the exceptions.
"""

from . import errors, scores
from ._core import (
    CDF,
    Distribution,
    Fleet,
    Forecasts,
    Gaussian,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Point,
    PointScale,
    Quantiles,
    Recalibrated,
    Recalibrator,
    Samples,
    Stream,
    StudentT,
    Uniform,
    __version__,
)
from .certificates import Certificate, LedgerCertificate
from .errors import TruecastError
from .frames import calibrate, compare, evaluate
from .results import Run
from .summaries import Comparison, CrpsSides, Sides, Summary

__all__ = [
    "CDF",
    "Certificate",
    "Comparison",
    "CrpsSides",
    "Distribution",
    "Fleet",
    "Forecasts",
    "Gaussian",
    "Laplace",
    "LedgerCertificate",
    "LogNormal",
    "Logistic",
    "Mixture",
    "Point",
    "PointScale",
    "Quantiles",
    "Recalibrated",
    "Recalibrator",
    "Run",
    "Samples",
    "Sides",
    "Stream",
    "StudentT",
    "Summary",
    "TruecastError",
    "Uniform",
    "__version__",
    "calibrate",
    "compare",
    "errors",
    "evaluate",
    "scores",
]
