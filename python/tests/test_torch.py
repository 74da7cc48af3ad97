"""Distributions of the real PyTorch. It is large and so no part of the test extra: ``make libraries`` runs this, or pytest where it is installed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import truecast as tc
from truecast import errors

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install truecast[torch]")
D = torch.distributions


def seen(foreign: Any) -> tc.Distribution:
    """What a foreign distribution is taken for."""
    return tc.Recalibrator().recalibrate(foreign).base


def t(*values: float, dtype: Any = None) -> Any:
    """A tensor: one number without dimensions, several in one."""
    return torch.tensor(values[0] if len(values) == 1 else list(values), dtype=dtype or torch.float64)


def two(components: Any) -> Any:
    """A mixture of two components, one to three."""
    return D.MixtureSameFamily(D.Categorical(t(0.25, 0.75)), components)


EXACT: list[tuple[Callable[[], Any], tc.Distribution]] = [
    (lambda: D.Normal(2.0, 3.0), tc.Gaussian(2.0, 3.0)),
    (lambda: D.Normal(t(2.0), t(3.0)), tc.Gaussian(2.0, 3.0)),
    (lambda: D.Normal(torch.tensor([2.0]), torch.tensor([3.0])), tc.Gaussian(2.0, 3.0)),
    (lambda: D.Normal(torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)), tc.Gaussian(2.0, 3.0)),
    (lambda: D.Normal(t(2.0, dtype=torch.bfloat16), t(3.0, dtype=torch.bfloat16)), tc.Gaussian(2.0, 3.0)),
    # A 32-bit number is what it is in 64 bits, not what was typed.
    (lambda: D.Normal(torch.tensor(0.1), torch.tensor(0.1)), tc.Gaussian(float(np.float32(0.1)), float(np.float32(0.1)))),
    (lambda: D.StudentT(t(5.0), t(1.0), t(2.0)), tc.StudentT(5.0, 1.0, 2.0)),
    (lambda: D.StudentT(t(5.0)), tc.StudentT(5.0)),
    (lambda: D.Laplace(t(1.0), t(2.0)), tc.Laplace(1.0, 2.0)),
    (lambda: D.LogNormal(t(0.5), t(0.25)), tc.LogNormal(0.5, 0.25)),
    (lambda: D.Uniform(t(1.0), t(3.0)), tc.Uniform(1.0, 3.0)),
    (lambda: two(D.Normal(t(0.0, 2.0), t(1.0, 0.5))), tc.Mixture([0.25, 0.75], [tc.Gaussian(0.0, 1.0), tc.Gaussian(2.0, 0.5)])),
    (lambda: two(D.Laplace(t(0.0, 2.0), t(1.0, 0.5))), tc.Mixture([0.25, 0.75], [tc.Laplace(0.0, 1.0), tc.Laplace(2.0, 0.5)])),
    (lambda: two(D.LogNormal(t(0.0, 2.0), t(1.0, 0.5))), tc.Mixture([0.25, 0.75], [tc.LogNormal(0.0, 1.0), tc.LogNormal(2.0, 0.5)])),
    (lambda: two(D.StudentT(t(4.0, 4.0), t(0.0, 2.0), t(1.0, 0.5))), tc.Mixture([0.25, 0.75], [tc.StudentT(4.0, 0.0, 1.0), tc.StudentT(4.0, 2.0, 0.5)])),
]


@pytest.mark.parametrize(("make", "ours"), EXACT, ids=[repr(ours) for _, ours in EXACT])
def test_kinds_that_we_have_are_exact(make: Callable[[], Any], ours: tc.Distribution) -> None:
    foreign = make()
    assert seen(foreign) == ours
    rc, other = tc.Recalibrator(), tc.Recalibrator()
    for y in (1.5, 0.2, 2.5):
        assert rc.recalibrate(foreign).interval(0.8) == other.recalibrate(ours).interval(0.8)
        rc.observe(foreign, y)
        other.observe(ours, y)
    assert rc.to_bytes() == other.to_bytes()


TABLES: list[tuple[str, Callable[[], Any], Any]] = [
    # With an inverse.
    ("exponential", lambda: D.Exponential(t(0.5)), scipy.stats.expon(scale=2.0)),
    ("gumbel", lambda: D.Gumbel(t(1.0), t(2.0)), scipy.stats.gumbel_r(1.0, 2.0)),
    ("weibull", lambda: D.Weibull(t(1.0), t(1.5)), scipy.stats.weibull_min(1.5)),
    ("half-normal", lambda: D.HalfNormal(t(2.0)), scipy.stats.halfnorm(scale=2.0)),
    ("kumaraswamy", lambda: D.Kumaraswamy(t(2.0), t(1.0)), scipy.stats.beta(2.0, 1.0)),
    (
        "affine",
        lambda: D.TransformedDistribution(D.Normal(t(0.0), t(1.0)), [D.transforms.AffineTransform(t(3.0), t(-2.0))]),
        scipy.stats.norm(3.0, 2.0),
    ),
    ("32 bits", lambda: D.Exponential(torch.tensor(0.5)), scipy.stats.expon(scale=2.0)),
    # Without one: icdf is there and raises NotImplementedError.
    ("gamma", lambda: D.Gamma(t(3.0), t(2.0)), scipy.stats.gamma(3.0, scale=0.5)),
    ("chi-squared", lambda: D.Chi2(t(5.0)), scipy.stats.chi2(5.0)),
    (
        "mixture of gammas",
        lambda: D.MixtureSameFamily(D.Categorical(t(1.0, 1.0)), D.Gamma(t(3.0, 3.0), t(2.0, 2.0))),
        scipy.stats.gamma(3.0, scale=0.5),
    ),
    (
        "mixture of one family written otherwise",
        lambda: two(D.TransformedDistribution(D.Normal(t(0.0, 0.0), t(1.0, 1.0)), [D.transforms.AffineTransform(t(3.0), t(2.0))])),
        scipy.stats.norm(3.0, 2.0),
    ),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in TABLES], ids=[row[0] for row in TABLES])
def test_others_are_tabulated(make: Callable[[], Any], expected: Any) -> None:
    table = seen(make())
    assert isinstance(table, tc.Quantiles)
    q = np.linspace(0.001, 0.999, 997)
    # Lines between 1,025 knots over twelve probit units: h²/8 · y'' with h = 12/1024 and y'' of a few scales.
    np.testing.assert_allclose(table.quantile(q), expected.ppf(q), atol=1e-4 * expected.std())
    np.testing.assert_allclose(table.cdf(expected.ppf(q)), q, atol=2e-5)
    assert table.mean() == pytest.approx(expected.mean(), abs=1e-4 * expected.std())
    low, high = expected.support()
    assert table.quantile(0.0) >= low and table.quantile(1.0) <= high
    assert pickle.loads(pickle.dumps(table)) == table


def test_several_at_once_are_refused() -> None:
    batches: list[Any] = [
        D.Normal(t(2.0, 1.0), t(3.0, 1.0)),
        D.Exponential(t(2.0, 1.0)),
        D.MultivariateNormal(torch.zeros(2), torch.eye(2)),
        D.Independent(D.Normal(t(2.0, 1.0), t(3.0, 1.0)), 1),
        D.MixtureSameFamily(D.Categorical(torch.ones(3, 2)), D.Normal(torch.zeros(3, 2), torch.ones(3, 2))),
    ]
    for batch in batches:
        with pytest.raises(TypeError, match="one distribution is needed, not an array of them"):
            seen(batch)


def test_a_batch_of_them_is_a_loop_over_it() -> None:
    mu, sigma = t(2.0, 1.0, 0.0), t(3.0, 1.0, 0.5)
    y = [1.0, 2.0, 0.5]
    one = tc.Recalibrator().run([D.Normal(m, s) for m, s in zip(mu, sigma, strict=True)], y, coverage=0.8)
    other = tc.Recalibrator().run(tc.Forecasts.gaussian(mu.numpy(), sigma.numpy()), y, coverage=0.8)
    np.testing.assert_array_equal(one.lower, other.lower)
    # Tensors are arrays to NumPy, and so to us.
    np.testing.assert_array_equal(tc.Forecasts.gaussian(mu, sigma)[1].quantile(q=torch.tensor([0.5])), [1.0])


def test_what_cannot_be_a_forecast_says_so() -> None:
    for foreign in (D.Poisson(t(3.0)), D.Binomial(10, t(0.3)), D.Gamma):
        with pytest.raises(TypeError):
            seen(foreign)
    with pytest.raises(TypeError, match="Poisson has neither a quantile function nor a cdf: pass draws from it as Samples"):
        seen(D.Poisson(t(3.0)))
    draws = D.Poisson(t(3.0)).sample((50,))
    assert seen(tc.Samples(draws)) == tc.Samples(draws.tolist())
    with pytest.raises(errors.NotPositiveError):
        seen(D.Normal(t(0.0), t(-1.0), validate_args=False))
    with pytest.raises(errors.NotFiniteError):
        seen(D.Normal(t(float("nan")), t(1.0), validate_args=False))


def test_a_subclass_is_asked_for_its_quantiles() -> None:
    base: Any = D.Normal

    class Shifted(base):
        """Says other quantiles than its parameters do."""

        def icdf(self, value: Any) -> Any:
            return super().icdf(value) + 10.0

        def cdf(self, value: Any) -> Any:
            return super().cdf(value - 10.0)

    assert seen(Shifted(t(0.0), t(1.0))).median() == pytest.approx(10.0, abs=1e-9)
