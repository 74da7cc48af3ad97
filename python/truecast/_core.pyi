"""Types of the native module; what the classes do is said there, and by ``help``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from .certificates import Certificate
from .optimise import Trial
from .results import Run
from .spaces import Choice, Integer, Real

__all__ = [
    "Distribution",
    "Fleet",
    "Forecasts",
    "CDF",
    "Gaussian",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Mixture",
    "Quantiles",
    "Recalibrated",
    "Samples",
    "StudentT",
    "Uniform",
    "Point",
    "PointScale",
    "Recalibrator",
    "crps_ensemble",
    "crps_normal",
    "crps_quantile",
    "interval_score",
    "pinball",
    "Space",
    "Stream",
    "Study",
    "_Desk",
    "_Frame",
    "__version__",
]
__version__: str

_Array: TypeAlias = NDArray[np.float64]
# Anything that NumPy makes an array of numbers of.
_ArrayLike: TypeAlias = (
    Sequence[float] | Sequence[Sequence[float]] | NDArray[np.floating[Any]] | NDArray[np.integer[Any]] | _SupportsArray
)
_Groups: TypeAlias = int | Sequence[int]
_Method: TypeAlias = Literal[
    "experts",
    "ledger",
    "approachability",
    "internal-regret",
    "defensive",
    "running-mean",
    "tophat",
    "isotonic",
    "aci",
    "dtaci",
    "sf-ogd",
    "saocp",
    "pid",
    "emos",
    "rolling-pit",
    "rolling-conformal",
    "quantile-regression",
    "crps-learning",
]

_METHODS: tuple[_Method, ...]

class _SupportsArray(Protocol):
    def __array__(self) -> NDArray[Any]: ...

class _WithPpf(Protocol):
    def cdf(self, x: Any, /) -> Any: ...
    def ppf(self, q: Any, /) -> Any: ...

class _WithIcdf(Protocol):
    def cdf(self, x: Any, /) -> Any: ...
    def icdf(self, q: Any, /) -> Any: ...

class _NormalDist(Protocol):
    @property
    def mean(self) -> float: ...
    @property
    def stdev(self) -> float: ...

# What is understood as a forecast.
_Forecast: TypeAlias = Distribution | _WithPpf | _WithIcdf | _NormalDist
_ForecastBatch: TypeAlias = Forecasts | Sequence[_Forecast] | Sequence[Point]
# For each row which of the texts, -1 for none.
_Coded: TypeAlias = tuple[NDArray[np.int64], list[str]]

@disjoint_base
class Distribution:
    """A predictive distribution of one real outcome."""

    @overload
    def cdf(self, y: float) -> float: ...
    @overload
    def cdf(self, y: _ArrayLike) -> _Array:
        """P(Y ≤ y)."""
    @overload
    def sf(self, y: float) -> float: ...
    @overload
    def sf(self, y: _ArrayLike) -> _Array:
        """P(Y > y), accurate in the upper tail."""
    @overload
    def quantile(self, q: float) -> float: ...
    @overload
    def quantile(self, q: _ArrayLike) -> _Array:
        """The smallest y with P(Y ≤ y) ≥ q."""
    @overload
    def ppf(self, q: float) -> float: ...
    @overload
    def ppf(self, q: _ArrayLike) -> _Array:
        """`quantile` under SciPy's name."""
    @overload
    def icdf(self, q: float) -> float: ...
    @overload
    def icdf(self, q: _ArrayLike) -> _Array:
        """`quantile` under the name that PyTorch and new SciPy use."""
    @overload
    def interval(self, coverage: float) -> tuple[float, float]: ...
    @overload
    def interval(self, coverage: _ArrayLike) -> tuple[_Array, _Array]:
        """The central interval that holds the outcome with probability `coverage`."""
    def between(self, low: float, high: float) -> float:
        """The probability of low < Y ≤ high."""
    @overload
    def pdf(self, y: float) -> float: ...
    @overload
    def pdf(self, y: _ArrayLike) -> _Array:
        """The density at y."""
    @overload
    def logpdf(self, y: float) -> float: ...
    @overload
    def logpdf(self, y: _ArrayLike) -> _Array:
        """The logarithm of the density at y."""
    @overload
    def crps(self, y: float) -> float: ...
    @overload
    def crps(self, y: _ArrayLike) -> _Array:
        """The continuous ranked probability score against the outcome y."""
    def mean(self) -> float:
        """The mean; the median where there is none."""
    def median(self) -> float:
        """The median."""
    def std(self) -> float:
        """The standard deviation, which may be infinite."""
    def var(self) -> float:
        """The variance, which may be infinite."""
    @overload
    def sample(self, size: None = None, *, seed: int = 0) -> float: ...
    @overload
    def sample(self, size: int | tuple[int, ...], *, seed: int = 0) -> _Array:
        """Seeded draws."""
    @overload
    def rvs(self, size: None = None, random_state: int | np.random.Generator | None = None) -> float: ...
    @overload
    def rvs(self, size: int | tuple[int, ...], random_state: int | np.random.Generator | None = None) -> _Array:
        """Draws, under SciPy's names."""
    @staticmethod
    def _from_bytes(bytes: bytes) -> Distribution: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: object, /) -> bool: ...
    def __le__(self, other: object, /) -> bool: ...
    def __gt__(self, other: object, /) -> bool: ...
    def __ge__(self, other: object, /) -> bool: ...

@final
class Gaussian(Distribution):
    """A normal distribution."""

    def __new__(cls, mu: float, sigma: float) -> Gaussian: ...
    @property
    def mu(self) -> float:
        """The mean."""
    @property
    def sigma(self) -> float:
        """The standard deviation."""

@final
class StudentT(Distribution):
    """Student's t distribution."""

    def __new__(cls, df: float, loc: float = 0.0, scale: float = 1.0) -> StudentT: ...
    @property
    def df(self) -> float:
        """Degrees of freedom."""
    @property
    def loc(self) -> float:
        """The middle."""
    @property
    def scale(self) -> float:
        """The scale."""

@final
class Laplace(Distribution):
    """A Laplace distribution."""

    def __new__(cls, loc: float = 0.0, scale: float = 1.0) -> Laplace: ...
    @property
    def loc(self) -> float:
        """The middle."""
    @property
    def scale(self) -> float:
        """The scale."""

@final
class Logistic(Distribution):
    """A logistic distribution."""

    def __new__(cls, loc: float = 0.0, scale: float = 1.0) -> Logistic: ...
    @property
    def loc(self) -> float:
        """The middle."""
    @property
    def scale(self) -> float:
        """The scale."""

@final
class LogNormal(Distribution):
    """The distribution of exp(X) for a normal X."""

    def __new__(cls, mu: float, sigma: float) -> LogNormal: ...
    @property
    def mu(self) -> float:
        """The mean of the logarithm."""
    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithm."""

@final
class Uniform(Distribution):
    """A uniform distribution."""

    def __new__(cls, low: float, high: float) -> Uniform: ...
    @property
    def low(self) -> float:
        """The lower end."""
    @property
    def high(self) -> float:
        """The upper end."""

@final
class Quantiles(Distribution):
    """A forecast given by some of its quantiles."""

    def __new__(
        cls, q: _ArrayLike, values: _ArrayLike, *, support: tuple[float, float] | None = None, strict: bool = False
    ) -> Quantiles: ...
    @property
    def q(self) -> list[float]:
        """The probabilities."""
    @property
    def values(self) -> list[float]:
        """The quantiles, in order."""
    @property
    def support(self) -> tuple[float, float]:
        """The range of possible outcomes."""
    @property
    def repaired(self) -> int:
        """How many quantiles had to be moved because they crossed."""

@final
class Samples(Distribution):
    """An ensemble as a forecast."""

    def __new__(cls, values: _ArrayLike) -> Samples: ...
    @property
    def values(self) -> list[float]:
        """The samples, in order."""

@final
class CDF(Distribution):
    """A forecast given by its distribution function at some points, linear between them."""

    def __new__(cls, points: _ArrayLike, probabilities: _ArrayLike) -> CDF: ...
    @property
    def points(self) -> list[float]:
        """The points, from one end of the support to the other."""
    @property
    def probabilities(self) -> list[float]:
        """The probabilities at these points, from 0 to 1."""

@final
class Mixture(Distribution):
    """A mixture of distributions."""

    def __new__(cls, weights: _ArrayLike, components: Sequence[_Forecast]) -> Mixture: ...
    @property
    def weights(self) -> list[float]:
        """The weights."""
    @property
    def components(self) -> list[Distribution]:
        """The components."""

@final
class Recalibrated(Distribution):
    """What a recalibrator made of a forecast: a distribution like any other."""

    @property
    def base(self) -> Distribution:
        """The forecast before recalibration."""
    @property
    def map(self) -> tuple[list[float], list[float]]:
        """Probabilities of the base where the map bends, and what is announced in their place."""

@final
class Point:
    """A forecast that is one number. It stands for a normal distribution whose scale is learned from past errors."""

    def __new__(cls, value: float) -> Point: ...
    @property
    def value(self) -> float:
        """The number."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class PointScale:
    """Makes distributions of point forecasts: the scale is learned from residuals."""

    def __new__(cls, initial_scale: float, *, half_life: float | None = None) -> PointScale: ...
    def forecast(self, value: float) -> Gaussian:
        """The normal forecast around a point."""
    def observe(self, value: float, y: float) -> None:
        """Learns the outcome of a point forecast."""
    @property
    def scale(self) -> float:
        """The standard deviation as learned so far."""
    @staticmethod
    def _from_bytes(bytes: bytes) -> PointScale: ...

@final
class Forecasts:
    """Many forecasts, one for each row of a batch."""

    @staticmethod
    def gaussian(mu: _ArrayLike, sigma: _ArrayLike) -> Forecasts:
        """Normal forecasts."""
    @staticmethod
    def student_t(df: _ArrayLike, loc: _ArrayLike, scale: _ArrayLike) -> Forecasts:
        """Student's t forecasts."""
    @staticmethod
    def quantiles(q: _ArrayLike, values: _ArrayLike) -> Forecasts:
        """Forecasts given by their quantiles."""
    @staticmethod
    def samples(values: _ArrayLike) -> Forecasts:
        """Ensembles."""
    @staticmethod
    def points(values: _ArrayLike) -> Forecasts:
        """Point forecasts; who takes them learns their scale."""
    @staticmethod
    def of(forecasts: Iterable[_Forecast] | Iterable[Point]) -> Forecasts:
        """Any distributions, one by one; or points."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...

@final
class Recalibrator:
    """Turns forecasts into calibrated ones, and learns from outcomes."""

    def __new__(
        cls,
        method: _Method = "experts",
        *,
        stop_loss: float | None = 0.005,
        guard: str | None = None,
        experts: Sequence[str] | None = None,
        lags: bool = True,
        half_life: float | None = None,
        seed: int = 0,
        prior: float | None = None,
        randomised: bool | None = None,
        groups: int = 0,
        thresholds: Sequence[float] | None = None,
        bounds: tuple[float | None, float | None] | None = None,
    ) -> Recalibrator: ...
    @staticmethod
    def paper(n: int = 20, *, method: _Method = "ledger", seed: int = 0) -> Recalibrator:
        """The paper's setting."""
    def recalibrate(self, forecast: _Forecast | Point, *, groups: _Groups | None = None) -> Recalibrated:
        """The calibrated forecast for the next outcome. Pure."""
    def observe(self, forecast: _Forecast | Point, y: float, *, groups: _Groups | None = None) -> None:
        """Learns the outcome of a forecast."""
    def run(
        self,
        forecasts: _ForecastBatch,
        y: _ArrayLike,
        *,
        coverage: float | _ArrayLike | None = None,
        q: float | _ArrayLike | None = None,
        mean: bool = False,
        std: bool = False,
        pit: bool = False,
        crps: bool = False,
        groups: Sequence[_Groups] | None = None,
        missing: bool = False,
    ) -> Run:
        """Recalibrates and observes a whole series in one call."""
    def certificate(self) -> Certificate:
        """What was promised and what was kept."""
    @property
    def steps(self) -> int:
        """Outcomes learned from so far."""
    @property
    def method(self) -> str:
        """The method's name."""
    @property
    def seed(self) -> int:
        """Key of all random draws."""
    def copy(self) -> Recalibrator:
        """A recalibrator in the same state that goes its own way from here."""
    def to_bytes(self) -> bytes:
        """The state as bytes."""
    @staticmethod
    def from_bytes(bytes: bytes) -> Recalibrator:
        """Loads a saved state."""
    def _repr_html_(self) -> str: ...
    def __copy__(self) -> Recalibrator: ...
    def __deepcopy__(self, _memo: Any) -> Recalibrator: ...

@final
class Stream:
    """Issue a forecast now, bring its outcome later: in any order, in batches, or never."""

    def __new__(
        cls,
        method: _Method = "experts",
        *,
        stop_loss: float | None = 0.005,
        guard: str | None = None,
        experts: Sequence[str] | None = None,
        lags: bool = True,
        half_life: float | None = None,
        seed: int = 0,
        prior: float | None = None,
        randomised: bool | None = None,
        groups: int = 0,
        thresholds: Sequence[float] | None = None,
        bounds: tuple[float | None, float | None] | None = None,
    ) -> Stream: ...
    @staticmethod
    def paper(n: int = 20, *, method: _Method = "ledger", seed: int = 0) -> Stream:
        """The paper's setting."""
    def issue(self, forecast: _Forecast | Point, *, groups: _Groups | None = None) -> tuple[int, Recalibrated]:
        """Gives a ticket for the outcome, and the calibrated forecast."""
    def resolve(self, ticket: int, y: float) -> None:
        """Brings the outcome of an earlier forecast."""
    def resolve_all(self, tickets: Sequence[int], y: _ArrayLike) -> None:
        """Brings several outcomes; if one is refused, none is booked."""
    def expire(self, ticket: int) -> None:
        """Forgets a forecast whose outcome will never come."""
    def forecast(self, ticket: int) -> Recalibrated:
        """The calibrated forecast of a pending ticket, as it was issued."""
    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an outcome, oldest first."""
    @property
    def issued(self) -> int:
        """How many forecasts were issued, pending ones included."""
    @property
    def steps(self) -> int:
        """Outcomes learned from so far."""
    @property
    def method(self) -> str:
        """The method's name."""
    @property
    def recalibrator(self) -> Recalibrator:
        """A copy of the recalibrator as it is now."""
    def certificate(self) -> Certificate:
        """What was promised and what was kept."""
    def to_bytes(self) -> bytes:
        """The state with its pending forecasts as bytes."""
    @staticmethod
    def from_bytes(bytes: bytes) -> Stream:
        """Loads a saved state."""
    def _repr_html_(self) -> str: ...

@final
class Fleet:
    """Many series with the same settings, each calibrated by itself, by key."""

    def __new__(
        cls,
        method: _Method = "experts",
        *,
        stop_loss: float | None = 0.005,
        guard: str | None = None,
        experts: Sequence[str] | None = None,
        lags: bool = True,
        half_life: float | None = None,
        seed: int = 0,
        prior: float | None = None,
        randomised: bool | None = None,
        groups: int = 0,
        thresholds: Sequence[float] | None = None,
        bounds: tuple[float | None, float | None] | None = None,
        delay: int = 0,
        timed: bool = False,
        paper: int | None = None,
    ) -> Fleet: ...
    @staticmethod
    def paper(n: int = 20, *, method: _Method = "ledger", seed: int = 0) -> Fleet:
        """The paper's setting."""
    def run(
        self,
        keys: Iterable[str | int] | NDArray[Any],
        forecasts: _ForecastBatch,
        y: _ArrayLike | None = None,
        *,
        coverage: float | _ArrayLike | None = None,
        q: float | _ArrayLike | None = None,
        mean: bool = False,
        std: bool = False,
        pit: bool = False,
        crps: bool = False,
        groups: Iterable[str | int | Sequence[str | int] | None] | None = None,
        time: _ArrayLike | None = None,
        due: _ArrayLike | None = None,
        about: Sequence[str | int] | None = None,
        missing: bool = False,
    ) -> Run:
        """Takes a batch: recalibrates every row with what its series knew before it, then learns its outcome."""
    @property
    def keys(self) -> list[str]:
        """The keys of all series, in the order of their first rows."""
    def recalibrator(self, key: str | int) -> Recalibrator:
        """A copy of the recalibrator of one series."""
    @property
    def rows(self) -> int:
        """Rows taken so far."""
    @property
    def waiting(self) -> int:
        """Outcomes that were given and are not known yet to their series."""
    @property
    def method(self) -> str:
        """The method's name."""
    def certificate(self) -> Certificate:
        """One certificate over all series."""
    def _take(
        self, desk: _Desk, frame: _Frame, outcomes: tuple[_Frame, Sequence[str]] | None = None, *, skip: bool = False
    ) -> tuple[
        list[tuple[int, _Array, NDArray[np.bool_] | None]], list[int], list[tuple[str, _Array]], list[int], list[tuple[int, Exception]]
    ]: ...
    def _score(
        self,
        desk: _Desk,
        frame: _Frame,
        outcomes: tuple[_Frame, Sequence[str]] | None = None,
        *,
        raw_only: bool = False,
        skip: bool = False,
    ) -> tuple[dict[str, Any], list[tuple[int, Exception]]]: ...
    def _resolve(
        self, outcomes: _Frame, names: Sequence[str], *, outcome: str | None = None, revisions: str = "first"
    ) -> tuple[int, int, int]: ...
    def issue(self, key: str | int, about: str | int, forecast: _Forecast | Point, *, made: float | None = None) -> Recalibrated:
        """Gives the calibrated forecast, which waits for its outcome."""
    def resolve(self, about: str | int, y: float, *, key: str | int | None = None) -> int:
        """Brings an outcome to every series in which a forecast about this waits."""
    def expire(self, before: float) -> int:
        """Forgets forecasts that were made before this time and still wait."""
    @property
    def open(self) -> int:
        """Forecasts that wait for their outcome."""
    def to_bytes(self) -> bytes:
        """The state of all series as bytes."""
    @staticmethod
    def from_bytes(bytes: bytes) -> Fleet:
        """Loads a saved state."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: object, /) -> bool: ...

@overload
def crps_normal(obs: float, mu: float, sigma: float) -> float: ...  # type: ignore[overload-overlap]
@overload
def crps_normal(obs: float | _ArrayLike, mu: float | _ArrayLike, sigma: float | _ArrayLike) -> _Array:
    """The CRPS of normal forecasts."""

@overload
def crps_quantile(obs: float, fct: _ArrayLike, q: _ArrayLike) -> float: ...
@overload
def crps_quantile(obs: _ArrayLike, fct: _ArrayLike, q: _ArrayLike) -> _Array:
    """The CRPS from quantiles: twice their mean pinball loss."""

@overload
def crps_ensemble(obs: float, fct: _ArrayLike, *, fair: bool = False) -> float: ...
@overload
def crps_ensemble(obs: _ArrayLike, fct: _ArrayLike, *, fair: bool = False) -> _Array:
    """The CRPS of ensembles."""

@overload
def pinball(obs: float, fct: float, q: float) -> float: ...  # type: ignore[overload-overlap]
@overload
def pinball(obs: float | _ArrayLike, fct: float | _ArrayLike, q: float | _ArrayLike) -> _Array:
    """The pinball loss of quantiles."""

@overload
def interval_score(obs: float, lower: float, upper: float, coverage: float) -> float: ...  # type: ignore[overload-overlap]
@overload
def interval_score(
    obs: float | _ArrayLike, lower: float | _ArrayLike, upper: float | _ArrayLike, coverage: float | _ArrayLike
) -> _Array:
    """Winkler's score of central intervals."""

@final
class _Frame:
    def __new__(cls, rows: int, columns: Sequence[tuple[int, _Array | None, _Array | None, _Coded | None]]) -> _Frame: ...

@final
class _Desk:
    def __new__(
        cls,
        names: Sequence[str],
        *,
        form: str | None = None,
        outcome: str | None = None,
        key: Sequence[str] | None = None,
        made: str | None = None,
        about: str | None = None,
        known: str | None = None,
        horizon: str | None = None,
        mean: str | None = None,
        std: str | None = None,
        point: str | None = None,
        model: str | None = None,
        interval_width: float | None = None,
        lag: str | None = None,
        step: str | None = None,
        delay: int | None = None,
        groups: Sequence[str] = ...,
        only: Sequence[tuple[str, str]] = ...,
        revisions: str = "first",
        replace: bool = False,
        keep: bool = False,
        skip: bool = False,
        quantiles: Sequence[float] = ...,
        intervals: Sequence[float] = ...,
        scores: bool = False,
    ) -> _Desk: ...
    @property
    def columns(self) -> tuple[list[int], list[int], list[int]]: ...
    @property
    def forecasts(self) -> list[int]: ...
    @property
    def lateness(self) -> tuple[bool, int]: ...

# Optimisation.

_Dimension: TypeAlias = Real | Integer | Choice | tuple[float, float]

@final
class Space:
    """What is searched: named dimensions."""

    def __new__(cls, dimensions: Space | Mapping[str, _Dimension]) -> Space: ...
    @property
    def dimensions(self) -> dict[str, Real | Integer | Choice]:
        """The dimensions by name, in order."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Study:
    """A function that is being minimised: `suggest` a point, evaluate it, `observe` its outcome."""

    def __new__(
        cls,
        space: Space | Mapping[str, _Dimension],
        *,
        acquisition: Literal["lcb", "ei", "pi", "thompson"] = "lcb",
        kappa: float | None = None,
        margin: float | None = None,
        calibration: Literal["none", "paper", "ledger", "online", "online-scale"] = "none",
        shrinkage: float | None = None,
        initial: int = 5,
        design: Literal["latin-hypercube", "random"] = "latin-hypercube",
        noise: float | None = None,
        seed: int = 0,
    ) -> Study: ...
    def suggest(self) -> dict[str, Any]:
        """The next point to evaluate."""
    def suggest_batch(self, n: int) -> list[dict[str, Any]]:
        """Several points to evaluate at once."""
    def observe(self, point: Mapping[str, Any], value: float) -> None:
        """Takes in the outcome of a point, suggested or not."""
    def observe_failed(self, point: Mapping[str, Any], reason: str) -> None:
        """Takes in that the evaluation of a point failed."""
    @property
    def best(self) -> Trial | None:
        """The trial of least outcome; None while there is no outcome."""
    @property
    def log(self) -> list[Trial]:
        """Every point that was suggested or told, in order."""
    @property
    def pending(self) -> list[dict[str, Any]]:
        """The points that were suggested and wait for their outcome, oldest first."""
    @property
    def space(self) -> Space:
        """What is searched."""
    @property
    def seed(self) -> int:
        """Key of all random draws."""
    def copy(self) -> Study:
        """A study in the same state that goes its own way from here."""
    def __copy__(self) -> Study: ...
    def __deepcopy__(self, _memo: Any) -> Study: ...
    def to_bytes(self) -> bytes:
        """The study with its log, as JSON in UTF-8."""
    @staticmethod
    def from_bytes(bytes: bytes) -> Study:
        """Loads a saved study."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
