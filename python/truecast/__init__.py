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
and `compare` take whole frames of pandas, Polars, PyArrow and others. `minimize` finds where a function is least in few trials, `Study` is
the same by ask and tell. `scores` has scores over arrays, `errors` the exceptions.
"""

from .interpreters import refuse_all_but_main as _refuse_all_but_main

_refuse_all_but_main()

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
    Space,
    Stream,
    StudentT,
    Study,
    Uniform,
    __version__,
)
from .certificates import Certificate, LedgerCertificate
from .errors import TruecastError
from .frames import Booked, calibrate, compare, evaluate, resolve
from .optimise import Minimum, Trial, minimize
from .results import Run
from .spaces import Choice, Integer, Real
from .summaries import Comparison, CrpsSides, Sides, Summary

__all__ = [
    "Booked",
    "CDF",
    "Certificate",
    "Choice",
    "Comparison",
    "CrpsSides",
    "Distribution",
    "Fleet",
    "Forecasts",
    "Gaussian",
    "Integer",
    "Laplace",
    "LedgerCertificate",
    "LogNormal",
    "Logistic",
    "Minimum",
    "Mixture",
    "Point",
    "PointScale",
    "Quantiles",
    "Real",
    "Recalibrated",
    "Recalibrator",
    "Run",
    "Samples",
    "Sides",
    "Space",
    "Stream",
    "StudentT",
    "Study",
    "Summary",
    "Trial",
    "TruecastError",
    "Uniform",
    "__version__",
    "calibrate",
    "compare",
    "errors",
    "evaluate",
    "minimize",
    "resolve",
    "scores",
]
