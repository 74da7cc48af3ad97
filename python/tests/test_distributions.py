"""Distributions: every kind, floats and arrays, hostile input."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

import truecast as tc
from truecast import errors

LEVELS = np.linspace(0.01, 0.99, 23)


def test_quantile_and_cdf_are_inverse(kind: tc.Distribution) -> None:
    for q in LEVELS:
        y = kind.quantile(float(q))
        assert kind.cdf(y) >= q - 1e-12
        # Just below, it is not yet reached; 1e-7 of the scale moves a smooth CDF by less than 1e-5.
        assert kind.cdf(y - 1e-7 * kind.std()) <= q + 1e-5
        assert kind.cdf(y) + kind.sf(y) == pytest.approx(1.0, abs=1e-14)


def test_arrays_are_floats_in_their_shape(kind: tc.Distribution) -> None:
    y = kind.mean() + kind.std() * np.linspace(-2.0, 2.0, 12).reshape(3, 4)
    q = LEVELS[:20].reshape(2, 5, 2)
    for name, numbers in [("cdf", y), ("sf", y), ("crps", y), ("quantile", q), ("ppf", q), ("icdf", q)]:
        function = getattr(kind, name)
        answer = function(numbers)
        assert answer.shape == numbers.shape and answer.dtype == np.float64
        single = [function(float(number)) for number in numbers.flat]
        assert all(isinstance(value, float) for value in single)
        assert answer.ravel().tolist() == single, name
        # Strides, other dtypes, lists, no dimensions.
        assert function(numbers.T).tolist() == answer.T.tolist()
        assert function(numbers.tolist()).tolist() == answer.tolist()
        assert function(np.float64(numbers.flat[0])) == single[0]
        assert function(np.array(numbers.flat[0])) == single[0]
        assert function(numbers.astype(np.float32)).tolist() == function(numbers.astype(np.float32).astype(float)).tolist()
    low, high = kind.interval([0.5, 0.9])
    assert [(low[i], high[i]) for i in range(2)] == [kind.interval(0.5), kind.interval(0.9)]


def test_interval_holds_its_coverage(kind: tc.Distribution) -> None:
    low, high = kind.interval(0.8)
    assert kind.between(low, high) + (kind.cdf(low) - kind.between(-math.inf, low)) >= 0.0
    assert kind.cdf(high) - kind.cdf(low) <= 0.8 + 0.11  # an atom on an end adds itself: 0.1 here at most
    assert kind.cdf(high) >= 0.9 - 1e-12


def test_moments_agree_with_quantiles(kind: tc.Distribution) -> None:
    # The midpoint rule in probability over 20,001 points; its tails cut off less than 2e-3 of a standard deviation.
    q = (np.arange(20_001) + 0.5) / 20_001
    y = kind.quantile(q)
    assert kind.mean() == pytest.approx(float(y.mean()), abs=2e-3 * kind.std())
    assert kind.std() == pytest.approx(float(y.std()), rel=3e-2)
    assert kind.var() == pytest.approx(kind.std() ** 2, rel=1e-12)


def test_draws_are_seeded(kind: tc.Distribution) -> None:
    draws = kind.sample((50, 40), seed=3)
    assert draws.shape == (50, 40)
    assert kind.sample((50, 40), seed=3).tolist() == draws.tolist()
    assert kind.sample(2000, seed=4).tolist() != draws.ravel().tolist()
    assert isinstance(kind.sample(), float)
    assert kind.sample() == kind.sample(1)[0]
    # Five standard errors of a mean of 2,000.
    assert abs(draws.mean() - kind.mean()) < 5.0 * kind.std() / math.sqrt(2000)
    generator = np.random.default_rng(5)
    expected = kind.quantile(np.random.default_rng(5).random(7))
    assert kind.rvs(7, random_state=generator).tolist() == expected.tolist()
    assert kind.rvs(7, random_state=3).tolist() == kind.sample(7, seed=3).tolist()


def test_pickle_and_copy_keep_every_bit(kind: tc.Distribution) -> None:
    for twin in (pickle.loads(pickle.dumps(kind)), copy.copy(kind), copy.deepcopy(kind)):
        assert type(twin) is type(kind)
        assert twin == kind and not (twin != kind)
        assert twin.quantile(LEVELS).tolist() == kind.quantile(LEVELS).tolist()
    assert kind != tc.Gaussian(-77.0, 1.0)
    assert kind != 3


def test_they_say_what_they_are(kind: tc.Distribution) -> None:
    assert repr(kind).startswith(type(kind).__name__ + "(")
    assert "standard deviation" in kind._repr_html_()
    assert isinstance(kind, tc.Distribution)


PAIRS: list[tuple[tc.Distribution, Any]] = [
    (tc.Gaussian(1.5, 2.0), scipy.stats.norm(1.5, 2.0)),
    (tc.StudentT(4.0, -1.0, 0.5), scipy.stats.t(4.0, -1.0, 0.5)),
    (tc.Laplace(0.3, 1.2), scipy.stats.laplace(0.3, 1.2)),
    (tc.Logistic(-2.0, 0.7), scipy.stats.logistic(-2.0, 0.7)),
    (tc.LogNormal(0.2, 0.4), scipy.stats.lognorm(0.4, scale=math.exp(0.2))),
    (tc.Uniform(-1.0, 3.0), scipy.stats.uniform(-1.0, 4.0)),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda d: type(d).__name__)
def test_scipy_agrees(ours: tc.Distribution, theirs: Any) -> None:
    y = theirs.ppf(LEVELS)
    # Both are good to a few units in the last place, and quantiles divide by the density.
    np.testing.assert_allclose(ours.cdf(y), theirs.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(ours.sf(y), theirs.sf(y), rtol=1e-11)
    np.testing.assert_allclose(ours.quantile(LEVELS), y, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.pdf(y), theirs.pdf(y), rtol=1e-10)
    np.testing.assert_allclose(ours.logpdf(y), theirs.logpdf(y), rtol=1e-9, atol=1e-10)
    assert ours.mean() == pytest.approx(theirs.mean(), rel=1e-9)
    assert ours.std() == pytest.approx(theirs.std(), rel=1e-9)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tc.Gaussian(NAN, 1.0), errors.NotFiniteError, "mean must be finite, got NaN"),
        (lambda: tc.Gaussian(0.0, 0.0), errors.NotPositiveError, "standard deviation must be greater than zero, got 0"),
        (lambda: tc.Gaussian(0.0, -INF), errors.NotFiniteError, "standard deviation must be finite, got -inf"),
        (lambda: tc.StudentT(0.0), errors.NotPositiveError, "got 0"),
        (lambda: tc.Uniform(1.0, 1.0), errors.InvalidInputError, "1"),
        (lambda: tc.Samples([]), errors.TooFewError, "samples must have at least 1 entries, got 0"),
        (lambda: tc.Samples([1.0, NAN]), errors.NotFiniteError, "sample must be finite, got NaN"),
        (lambda: tc.Quantiles([0.1, 0.9], [1.0]), errors.LengthMismatchError, "2 entries on one side and 1"),
        (lambda: tc.Quantiles([0.9, 0.1], [1.0, 2.0]), errors.NotIncreasingError, "entry 1 is 0.1 after 0.9"),
        (lambda: tc.Quantiles([0.1, 0.9], [2.0, 1.0], strict=True), errors.CrossingQuantilesError, "1 at probability 0.9"),
        (lambda: tc.CDF([0.0, 1.0], [0.5, 1.5]), errors.OutOfRangeError, "got 1.5"),
        (lambda: tc.Mixture([1.0], []), errors.TruecastError, ""),
        (lambda: tc.Gaussian(0.0, 1.0).quantile(1.5), errors.OutOfRangeError, "q must be between 0 and 1, got 1.5"),
        (lambda: tc.Gaussian(0.0, 1.0).quantile([0.5, NAN]), errors.OutOfRangeError, "got NaN"),
        (lambda: tc.Gaussian(0.0, 1.0).interval(80.0), errors.OutOfRangeError, "coverage must be greater than 0"),
        (lambda: tc.Gaussian(0.0, 1.0).interval(0.0), errors.OutOfRangeError, "got 0"),
        (lambda: tc.Gaussian(0.0, 1.0).cdf(NAN), errors.NotFiniteError, "outcome must be finite, got NaN"),
        (lambda: tc.Gaussian(0.0, 1.0).crps(INF), errors.NotFiniteError, "outcome must be finite, got inf"),
        (lambda: tc.Samples([1.0]).pdf(1.0), errors.NoDensityError, "no density at 1"),
    ],
)
def test_hostile_numbers(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
    assert isinstance(caught.value, tc.TruecastError) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize("wrong", [None, "3", b"3", [], {}, object(), [1.0, None], ["1"], 1j, [[1.0], [1.0, 2.0]]])
def test_hostile_types(wrong: Any) -> None:
    gaussian: Any = tc.Gaussian(0.0, 1.0)
    makers: list[Any] = [lambda: tc.Gaussian(wrong, 1.0), lambda: tc.Samples(wrong), lambda: tc.Quantiles(wrong, wrong)]
    if wrong != []:
        makers += [lambda: gaussian.cdf(wrong), lambda: gaussian.quantile(wrong), lambda: gaussian.interval(wrong)]
    for make in makers:
        with pytest.raises((TypeError, ValueError)):
            make()


def test_an_empty_array_has_no_answers() -> None:
    assert tc.Gaussian(0.0, 1.0).cdf([]).shape == (0,)
    assert tc.Gaussian(0.0, 1.0).cdf(np.empty((0, 3))).shape == (0, 3)


def test_the_ends_of_the_axis() -> None:
    gaussian = tc.Gaussian(0.0, 1.0)
    assert (gaussian.cdf(INF), gaussian.cdf(-INF), gaussian.sf(-INF)) == (1.0, 0.0, 1.0)
    assert (gaussian.quantile(0.0), gaussian.quantile(1.0)) == (-INF, INF)
    assert gaussian.sf(10.0) == pytest.approx(7.619853024160527e-24, rel=1e-12)  # Φ(−10), Abramowitz & Stegun 26.2


def test_a_distribution_does_not_change() -> None:
    gaussian: Any = tc.Gaussian(0.0, 1.0)
    with pytest.raises(AttributeError):
        gaussian.mu = 1.0
    with pytest.raises(TypeError):
        hash(gaussian)
