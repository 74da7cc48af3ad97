"""Distributions of other libraries: recognised, or tabulated. Those of PyTorch are in test_torch.py."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import truecast as tc
from truecast import errors


def seen(foreign: Any) -> tc.Distribution:
    """What a foreign distribution is taken for."""
    return tc.Recalibrator().recalibrate(foreign).base


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [
        (scipy.stats.norm(2.0, 3.0), tc.Gaussian(2.0, 3.0)),
        (scipy.stats.norm(loc=2.0, scale=3.0), tc.Gaussian(2.0, 3.0)),
        (scipy.stats.norm(2, scale=np.float64(3.0)), tc.Gaussian(2.0, 3.0)),
        (scipy.stats.norm(np.array([2.0]), np.array(3.0)), tc.Gaussian(2.0, 3.0)),
        (scipy.stats.norm(), tc.Gaussian(0.0, 1.0)),
        (scipy.stats.t(5.0), tc.StudentT(5.0)),
        (scipy.stats.t(df=5.0, loc=1.0, scale=2.0), tc.StudentT(5.0, 1.0, 2.0)),
        (scipy.stats.t(5.0, 1.0, 2.0), tc.StudentT(5.0, 1.0, 2.0)),
        (scipy.stats.laplace(1.0, 2.0), tc.Laplace(1.0, 2.0)),
        (scipy.stats.logistic(1.0, 2.0), tc.Logistic(1.0, 2.0)),
        (scipy.stats.uniform(1.0, 2.0), tc.Uniform(1.0, 3.0)),
        (scipy.stats.Normal(mu=2.0, sigma=3.0), tc.Gaussian(2.0, 3.0)),
        (statistics.NormalDist(2.0, 3.0), tc.Gaussian(2.0, 3.0)),
    ],
)
def test_kinds_that_we_have_are_exact(foreign: Any, ours: tc.Distribution) -> None:
    assert seen(foreign) == ours


SMOOTH = [
    scipy.stats.gamma(3.0),
    scipy.stats.beta(2.0, 5.0),
    scipy.stats.gumbel_r(1.0, 2.0),
    scipy.stats.expon(scale=4.0),
    scipy.stats.lognorm(0.5),
    scipy.stats.skewnorm(4.0),
    scipy.stats.weibull_min(1.5),
]


@pytest.mark.parametrize("foreign", SMOOTH, ids=lambda d: d.dist.name)
def test_smooth_distributions_are_tabulated(foreign: Any) -> None:
    table = seen(foreign)
    q = np.linspace(0.001, 0.999, 997)
    # Lines between 1,025 knots over twelve probit units: h²/8 · y'' with h = 12/1024 and y'' of a few scales.
    np.testing.assert_allclose(table.quantile(q), foreign.ppf(q), atol=1e-4 * foreign.std())
    np.testing.assert_allclose(table.cdf(foreign.ppf(q)), q, atol=2e-5)
    assert table.mean() == pytest.approx(foreign.mean(), abs=1e-4 * foreign.std())
    assert table.std() == pytest.approx(foreign.std(), rel=1e-3)
    low, high = foreign.support()
    assert table.quantile(0.0) >= low and table.quantile(1.0) <= high


@pytest.mark.parametrize(
    "foreign",
    [scipy.stats.poisson(3.0), scipy.stats.binom(10, 0.3), scipy.stats.nbinom(5, 0.4), scipy.stats.bernoulli(0.2)],
    ids=lambda d: d.dist.name,
)
def test_atoms_are_exact(foreign: Any) -> None:
    table = seen(foreign)
    for k in range(int(foreign.ppf(0.9999)) + 1):
        assert table.cdf(float(k)) == pytest.approx(foreign.cdf(k), abs=1e-12)
        assert table.cdf(k + 0.5) == pytest.approx(foreign.cdf(k), abs=1e-12)
        assert table.cdf(k - 1e-9) == pytest.approx(foreign.cdf(k - 1), abs=1e-12)
    assert table.mean() == pytest.approx(foreign.mean(), rel=1e-6)


class OneByOne:
    """A distribution that knows floats only."""

    def cdf(self, y: float) -> float:
        return float(scipy.special.ndtr(float(y)))

    def quantile(self, q: float) -> float:
        if not isinstance(q, float):
            raise TypeError("one at a time")
        return float(scipy.special.ndtri(q))


def test_objects_that_take_floats_only() -> None:
    table = seen(OneByOne())
    # A table of a normal distribution is a normal distribution; the probabilities near 1 are good to 1e-16 / 1e-9.
    np.testing.assert_allclose(table.quantile([0.01, 0.5, 0.99]), scipy.special.ndtri([0.01, 0.5, 0.99]), atol=1e-9)


def test_a_point_mass() -> None:
    class Certain:
        def cdf(self, y: Any) -> Any:
            return np.where(np.asarray(y) >= 4.0, 1.0, 0.0)

        def ppf(self, q: Any) -> Any:
            return np.full(np.shape(q), 4.0)

    assert seen(Certain()) == tc.Samples([4.0])


class Broken:
    """Raises what it is told to."""

    def __init__(self, error: Exception | None = None, value: Any = None) -> None:
        self.error, self.value = error, value

    def cdf(self, y: Any) -> Any:
        return self.ppf(y)

    def ppf(self, q: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


def test_what_they_raise_is_raised() -> None:
    rc = tc.Recalibrator()
    for error in (ZeroDivisionError("by zero"), KeyError("k"), RuntimeError("no")):
        with pytest.raises(type(error), match=str(error.args[0])):
            rc.recalibrate(Broken(error))
        with pytest.raises(type(error)):
            rc.observe(Broken(error), 1.0)
    with pytest.raises(errors.NotFiniteError, match="quantile of the foreign distribution must be finite, got NaN"):
        rc.recalibrate(Broken(value=float("nan")))
    with pytest.raises(errors.TooFewError):
        rc.recalibrate(Broken(value=float("inf")))
    for nonsense in ("text", None, [1.0, 2.0], object()):
        with pytest.raises((TypeError, ValueError)):
            rc.recalibrate(Broken(value=nonsense))
    with pytest.raises(TypeError, match="one distribution is needed, not an array of them"):
        rc.recalibrate(scipy.stats.norm([0.0, 1.0], 1.0))
    with pytest.raises(errors.NotPositiveError):
        rc.recalibrate(scipy.stats.norm(0.0, -1.0))
    hostile: list[Any] = [3, "a", None, object(), tc.Gaussian, np.zeros(3)]
    for wrong in hostile:
        with pytest.raises((TypeError, ValueError)):
            rc.recalibrate(wrong)
    assert rc.steps == 0


class CdfAlone:
    """Has the name of an inverse, as PyTorch's families without one do."""

    def __init__(self, support: tuple[float, float] | None = None, error: Exception | None = None) -> None:
        self.error = error
        if support is not None:
            self.support = support

    def icdf(self, q: Any) -> Any:
        raise NotImplementedError

    def cdf(self, y: Any) -> Any:
        if self.error is not None:
            raise self.error
        return scipy.stats.norm(300.0, 2.0).cdf(y)


def test_a_cdf_is_inverted_where_its_inverse_is_not_implemented() -> None:
    q = np.linspace(0.001, 0.999, 997)
    for foreign in (CdfAlone(), CdfAlone((0.0, np.inf)), CdfAlone((-np.inf, 1000.0)), CdfAlone((200.0, 400.0))):
        table = seen(foreign)
        np.testing.assert_allclose(table.quantile(q), scipy.stats.norm(300.0, 2.0).ppf(q), atol=1e-6)
    with pytest.raises(TypeError, match="CdfAlone has neither a quantile function nor a cdf"):
        seen(CdfAlone(error=NotImplementedError()))
    with pytest.raises(ZeroDivisionError):
        seen(CdfAlone(error=ZeroDivisionError()))

    class Nowhere(CdfAlone):
        def cdf(self, y: Any) -> Any:
            return np.full(np.shape(y), 0.5)

    with pytest.raises(errors.NotFiniteError, match="quantile of the foreign distribution"):
        seen(Nowhere())
