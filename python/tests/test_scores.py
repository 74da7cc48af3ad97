"""Scores agree with scoringrules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scoringrules  # type: ignore[import-untyped, unused-ignore]

import truecast as tc
from truecast import errors, scores

RNG = np.random.default_rng(12)
OBS, MU, SIGMA = RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3)), RNG.uniform(0.2, 3.0, (20, 3))
MEMBERS = RNG.normal(size=(20, 3, 11))
TEXT: Any = "a"
Q = np.linspace(0.05, 0.95, 11)


def close(ours: Any, theirs: Any) -> None:
    """Both sum at most eleven terms of order one in double precision."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_crps_normal() -> None:
    close(scores.crps_normal(OBS, MU, SIGMA), scoringrules.crps_normal(OBS, MU, SIGMA))
    # Broadcast, and one by one.
    close(scores.crps_normal(OBS, 0.5, SIGMA[0]), scoringrules.crps_normal(OBS, 0.5, SIGMA[0]))
    one = scores.crps_normal(OBS[1, 2], MU[1, 2], SIGMA[1, 2])
    assert isinstance(one, float) and one == scores.crps_normal(OBS, MU, SIGMA)[1, 2]
    assert one == tc.Gaussian(MU[1, 2], SIGMA[1, 2]).crps(OBS[1, 2])


def test_crps_ensemble() -> None:
    for fair, estimator in [(False, "nrg"), (True, "fair")]:
        ours = scores.crps_ensemble(OBS, MEMBERS, fair=fair)
        close(ours, scoringrules.crps_ensemble(OBS, MEMBERS, estimator=estimator))
    one = scores.crps_ensemble(OBS[1, 2], MEMBERS[1, 2])
    assert isinstance(one, float) and one == scores.crps_ensemble(OBS, MEMBERS)[1, 2]


def test_crps_quantile() -> None:
    values = np.sort(MEMBERS, axis=-1)
    close(scores.crps_quantile(OBS, values, Q), scoringrules.crps_quantile(OBS, values, Q))


def test_pinball() -> None:
    for q in (0.1, 0.5, 0.93):
        close(scores.pinball(OBS, MU, q), scoringrules.quantile_score(OBS, MU, q))


def test_interval_score() -> None:
    for coverage in (0.5, 0.8, 0.98):
        ours = scores.interval_score(OBS, MU - SIGMA, MU + SIGMA, coverage)
        close(ours, scoringrules.interval_score(OBS, MU - SIGMA, MU + SIGMA, 1.0 - coverage))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: scores.crps_normal([0.0, np.nan], 0.0, 1.0), errors.NotFiniteError, "row 1: outcome must be finite, got NaN"),
        (lambda: scores.crps_normal(0.0, 0.0, -1.0), errors.NotPositiveError, "got -1"),
        (lambda: scores.pinball(0.0, 1.0, 1.0), errors.OutOfRangeError, "got 1"),
        (lambda: scores.interval_score(0.0, 1.0, -1.0, 0.8), errors.NotIncreasingError, "-1 after 1"),
        (lambda: scores.interval_score(0.0, -1.0, 1.0, 80.0), errors.OutOfRangeError, "got 80"),
        (lambda: scores.crps_ensemble([0.0], [[]]), errors.TooFewError, ""),
        (lambda: scores.crps_quantile([0.0], [[1.0, 2.0]], [0.5]), errors.LengthMismatchError, ""),
        (lambda: scores.crps_ensemble([0.0, 1.0], [[1.0, 2.0]]), TypeError, "do not go together"),
        (lambda: scores.crps_ensemble(0.0, np.array(1.0)), TypeError, "at least one dimension"),
        (lambda: scores.crps_normal([0.0, 1.0], [1.0, 2.0, 3.0], 1.0), ValueError, "broadcast"),
        (lambda: scores.crps_normal(TEXT, 0.0, 1.0), TypeError, "'a'"),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
