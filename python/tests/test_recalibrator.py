"""Recalibrators: two verbs, batches, states."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import truecast as tc
from truecast import errors

Series = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def test_before_the_first_outcome_nothing_changes(method: Any) -> None:
    if method in ("approachability", "internal-regret", "tophat"):
        pytest.skip("its map is a step function")
    forecast = tc.Gaussian(20.0, 2.0)
    calibrated = tc.Recalibrator(method).recalibrate(forecast)
    # The guarded quantiles are 27 knots, the levels 25: between them lines in probit units.
    np.testing.assert_allclose(calibrated.quantile([0.1, 0.5, 0.9]), forecast.quantile([0.1, 0.5, 0.9]), atol=1e-6)


def test_recalibrating_is_pure_and_the_kept_plan_is_the_plan(method: Any, series: Series) -> None:
    asked, silent = tc.Recalibrator(method, seed=3), tc.Recalibrator(method, seed=3)
    probe = tc.Gaussian(1.0, 5.0)
    for mu, sigma, y in zip(*series, strict=True):
        forecast = tc.Gaussian(mu, sigma)
        first = asked.recalibrate(forecast)
        if y > 0.0:
            # Something else is asked in between, and so the plan is no longer the one that is kept.
            asked.recalibrate(probe)
        assert asked.recalibrate(forecast) == first
        asked.observe(forecast if y < 1.0 else tc.Gaussian(mu, sigma), y)
        silent.observe(forecast, y)
    assert asked.to_bytes() == silent.to_bytes()
    assert asked.steps == silent.steps == 400


@pytest.mark.parametrize("form", ["gaussian", "quantiles", "samples", "of"])
def test_a_run_is_the_loop_bit_for_bit(method: Any, form: str, series: Series) -> None:
    # The CRPS of Student's t is a quadrature, a thousand times the price of the others.
    count = 12 if form == "of" else 120
    mu, sigma, y = (values[:count] for values in series)
    q = [0.1, 0.25, 0.5, 0.75, 0.9]
    table = mu[:, None] + sigma[:, None] * np.array([-1.3, -0.7, 0.0, 0.7, 1.2])
    each: list[tc.Distribution]
    if form == "gaussian":
        each = [tc.Gaussian(*row) for row in zip(mu, sigma, strict=True)]
        batch = tc.Forecasts.gaussian(mu, sigma)
    elif form == "quantiles":
        each = [tc.Quantiles(q, row) for row in table]
        batch = tc.Forecasts.quantiles(q, table)
    elif form == "samples":
        each = [tc.Samples(row) for row in table]
        batch = tc.Forecasts.samples(table)
    else:
        each = [tc.StudentT(3.0, *row) for row in zip(mu, sigma, strict=True)]
        batch = tc.Forecasts.of(each)
    loop, fast = tc.Recalibrator(method, seed=5), tc.Recalibrator(method, seed=5)
    run = fast.run(batch, y, coverage=[0.5, 0.8], q=0.3, mean=True, std=True, pit=True, crps=True)
    assert run.lower is not None and run.upper is not None and run.quantiles is not None
    assert run.mean is not None and run.std is not None and run.crps is not None and run.pit is not None
    assert run.lower.shape == (count, 2) and run.quantiles.shape == (count,)
    assert ((run.pit >= 0.0) & (run.pit <= 1.0)).all()
    for row, forecast in enumerate(each):
        calibrated = loop.recalibrate(forecast)
        assert (run.lower[row, 1], run.upper[row, 1]) == calibrated.interval(0.8)
        assert run.quantiles[row] == calibrated.quantile(0.3)
        assert (run.mean[row], run.std[row]) == (calibrated.mean(), calibrated.std())
        assert run.crps[row] == calibrated.crps(y[row])
        if form == "gaussian" and method == "ledger":
            assert run.pit[row] == calibrated.cdf(y[row])
        loop.observe(forecast, y[row])
    assert loop.to_bytes() == fast.to_bytes()


@pytest.mark.parametrize("count", [1, 7, 8, 120])
def test_intervals_and_moments_read_several_at_a_time_are_the_loop_bit_for_bit(count: int, series: Series) -> None:
    mu, sigma, y = (values[:count] for values in series)
    each: list[tc.Distribution] = [tc.Gaussian(*row) for row in zip(mu, sigma, strict=True)]
    if count == 120:
        each[50:51] = [tc.StudentT(3.0, 0.0, 1.0)]  # read alone, between those that wait
        batch = tc.Forecasts.of(each)
    else:
        batch = tc.Forecasts.gaussian(mu, sigma)
    loop = tc.Recalibrator()
    both, only = (tc.Recalibrator().run(batch, y, coverage=c, mean=True, std=True) for c in ([0.5, 0.8], None))
    assert both.lower is not None and both.upper is not None
    for row, forecast in enumerate(each):
        calibrated = loop.recalibrate(forecast)
        assert (both.lower[row, 1], both.upper[row, 1]) == calibrated.interval(0.8)
        for run in (both, only):
            assert run.mean is not None and run.std is not None
            assert (run.mean[row], run.std[row]) == (calibrated.mean(), calibrated.std())
        loop.observe(forecast, y[row])


def test_a_run_is_all_or_nothing(series: Series) -> None:
    mu, sigma, y = series
    rc = tc.Recalibrator()
    rc.run(tc.Forecasts.gaussian(mu, sigma), y)
    before = rc.to_bytes()
    sigma = sigma.copy()
    sigma[7] = 1e200  # cannot be squared: refused by the recalibrator, after six rows
    with pytest.raises(errors.WidthOutOfRangeError, match="^row 7: ") as caught:
        rc.run(tc.Forecasts.gaussian(mu, sigma), y)
    assert caught.value.row == 7
    y = y.copy()
    y[3] = np.nan
    with pytest.raises(errors.NotFiniteError, match="^row 3: outcome must be finite, got NaN$"):
        rc.run(tc.Forecasts.gaussian(*series[:2]), y)
    sigma[5] = -1.0
    with pytest.raises(errors.NotPositiveError, match="^row 5: standard deviation must be greater than zero, got -1$"):
        tc.Forecasts.gaussian(mu, sigma)
    with pytest.raises(errors.LengthMismatchError, match="400 entries on one side and 399 on the other"):
        rc.run(tc.Forecasts.gaussian(*series[:2]), y[1:])
    assert rc.to_bytes() == before


def test_missing_outcomes_teach_nothing(series: Series) -> None:
    mu, sigma, y = series
    holes = y.copy()
    holes[10:20] = np.nan
    known = ~np.isnan(holes)
    with_holes, without = tc.Recalibrator(), tc.Recalibrator()
    run = with_holes.run(tc.Forecasts.gaussian(mu, sigma), holes, missing=True, coverage=0.9, pit=True, crps=True)
    without.run(tc.Forecasts.gaussian(mu[known], sigma[known]), y[known])
    assert with_holes.to_bytes() == without.to_bytes()
    assert run.lower is not None and run.pit is not None and run.crps is not None
    assert np.isfinite(run.lower).all()
    assert (np.isnan(run.pit) == ~known).all() and (np.isnan(run.crps) == ~known).all()


def test_intervals_become_honest(series: Series) -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(0.0, 2.0, 4000)
    run = tc.Recalibrator().run(tc.Forecasts.gaussian(np.zeros(4000), np.ones(4000)), y, coverage=0.8)
    assert run.lower is not None and run.upper is not None
    held = np.mean((run.lower <= y) & (y <= run.upper)[:])
    # The guard's budget at n = 4,000 is 0.8 ± 2·(2√(0.09·4025) + 1)/4000 = ± 0.0195; 48 % before.
    assert abs(held - 0.8) < 0.02


def test_groups_and_thresholds(series: Series) -> None:
    mu, sigma, y = series
    rc = tc.Recalibrator(groups=2, thresholds=[0.5])
    batch = tc.Recalibrator(groups=2, thresholds=[0.5])
    groups: list[list[int]] = [[0], [1], [0, 1], []] * 100
    batch.run(tc.Forecasts.gaussian(mu, sigma), y, groups=groups)
    for row in range(400):
        forecast = tc.Gaussian(mu[row], sigma[row])
        rc.recalibrate(forecast, groups=groups[row])
        rc.observe(forecast, y[row], groups=groups[row])
    assert rc.to_bytes() == batch.to_bytes()
    certificate = rc.certificate().ledgers
    assert certificate is not None
    ledgers = certificate.ledgers
    assert [ledger.ledger for ledger in ledgers] == ["uniform", "crps", "threshold 0.5", "group 0", "group 1"]
    assert [ledger.group for ledger in ledgers] == [None, None, None, 0, 1]
    assert ledgers[2].threshold == 0.5
    with pytest.raises(errors.UnknownGroupError, match="group 2 is unknown: the recalibrator has 2 group ledgers"):
        rc.observe(tc.Gaussian(0.0, 1.0), 0.0, groups=2)
    assert rc.to_bytes() == batch.to_bytes()


def test_the_certificate_holds_and_prints(series: Series) -> None:
    mu, sigma, y = series
    rc = tc.Recalibrator()
    rc.run(tc.Forecasts.gaussian(mu, sigma), y)
    certificate = rc.certificate()
    stop_loss, guard, ledgers = certificate.stop_loss, certificate.guard, certificate.ledgers
    assert certificate.holds and stop_loss is not None and guard is not None and ledgers is not None
    assert (stop_loss.outcomes, guard.outcomes, ledgers.steps) == (400, 400, 400)
    assert stop_loss.extra <= stop_loss.bound and ledgers.potential <= ledgers.potential_bound
    assert [interval.nominal for interval in guard.intervals][7] == pytest.approx(0.8)
    text = str(certificate)
    assert text.startswith("never behind the forecaster by more than 0.5 %") and "uniform" in text
    assert "never behind" in rc._repr_html_()
    with pytest.raises(AttributeError):
        certificate.holds = False  # type: ignore[misc]
    with pytest.raises(errors.NoCertificateError, match="aci promises nothing") as caught:
        tc.Recalibrator("aci", stop_loss=None).certificate()
    assert caught.value.method == "aci"
    assert "Recalibrator(method='aci', steps=0)" in tc.Recalibrator("aci")._repr_html_().replace("&#x27;", "'")


def test_states_go_on_bit_for_bit(method: Any, series: Series) -> None:
    mu, sigma, y = series
    whole = tc.Recalibrator(method, seed=11)
    whole.run(tc.Forecasts.gaussian(mu, sigma), y)
    half = tc.Recalibrator(method, seed=11)
    half.run(tc.Forecasts.gaussian(mu[:200], sigma[:200]), y[:200])
    for twin in (
        tc.Recalibrator.from_bytes(half.to_bytes()),
        pickle.loads(pickle.dumps(half)),
        half.copy(),
        copy.copy(half),
        copy.deepcopy(half),
    ):
        assert (twin.steps, twin.method, twin.seed) == (200, method, half.seed)
        twin.run(tc.Forecasts.gaussian(mu[200:], sigma[200:]), y[200:])
        assert twin.to_bytes() == whole.to_bytes()
    assert half.steps == 200


def test_damaged_states_are_refused() -> None:
    state = tc.Recalibrator().to_bytes()
    with pytest.raises(errors.BadMagicError):
        tc.Recalibrator.from_bytes(b"hello")
    with pytest.raises(errors.WrongLengthError) as length:
        tc.Recalibrator.from_bytes(state[:-1])
    assert length.value.expected == len(state) and length.value.found == len(state) - 1
    with pytest.raises(errors.WrongChecksumError):
        tc.Recalibrator.from_bytes(state[:-1] + bytes([state[-1] ^ 1]))
    newer = state[:8] + (999).to_bytes(2, "little") + state[10:]
    with pytest.raises(errors.UnsupportedVersionError, match="999"):
        tc.Recalibrator.from_bytes(newer)
    with pytest.raises(errors.BadMagicError):
        tc.Recalibrator.from_bytes(tc.Fleet().to_bytes())
    for hostile in (None, "text", 3):
        with pytest.raises(TypeError):
            tc.Recalibrator.from_bytes(hostile)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"method": "ledgers"}, errors.UnknownMethodError, '"ledgers" is not a method'),
        ({"half_life": 0.0}, errors.NotPositiveError, "half-life must be greater than zero, got 0"),
        ({"half_life": float("nan")}, errors.NotFiniteError, "half-life must be finite, got NaN"),
        ({"prior": -1.0}, errors.OutOfRangeError, "prior must be zero or more, got -1"),
        ({"groups": 65}, errors.UnknownGroupError, "group 64 is unknown"),
        ({"thresholds": [float("inf")]}, errors.NotFiniteError, "threshold must be finite, got inf"),
        ({"method": "aci", "lags": False}, errors.NotASettingError, "no lags is no setting of aci"),
    ],
)
def test_wrong_settings(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    for kind in (tc.Recalibrator, tc.Stream, tc.Fleet):
        with pytest.raises(error) as caught:
            kind(**keywords)
        assert message in str(caught.value)
        assert isinstance(caught.value, tc.TruecastError)


@pytest.mark.parametrize("keywords", [{"seed": -1}, {"groups": -1}, {"groups": 256}, {"trust": "yes"}, {"alpha": 0.1}])
def test_settings_of_a_wrong_type(keywords: dict[str, Any]) -> None:
    with pytest.raises((TypeError, OverflowError)):
        tc.Recalibrator(**keywords)


def test_wrong_outcomes_change_nothing() -> None:
    rc, forecast = tc.Recalibrator(), tc.Gaussian(0.0, 1.0)
    before = rc.to_bytes()
    for y in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(errors.NotFiniteError, match="outcome must be finite"):
            rc.observe(forecast, y)
    hostile: list[Any] = [None, "1", [1.0], object()]
    for wrong in hostile:
        with pytest.raises(TypeError):
            rc.observe(forecast, wrong)
        with pytest.raises(TypeError):
            rc.recalibrate(wrong)
    assert rc.to_bytes() == before


def test_the_papers_setting() -> None:
    rc = tc.Recalibrator.paper(10, seed=4)
    forecast = tc.Gaussian(0.0, 1.0)
    for y in (0.1, -0.4, 2.0):
        rc.observe(forecast, y)
    calibrated = rc.recalibrate(forecast)
    # A step function on tenths.
    announced = calibrated.cdf(np.linspace(-3.0, 3.0, 101))
    assert {round(p * 10, 9) for p in announced.tolist()} <= set(range(11))
    assert tc.Recalibrator.paper(10, method="approachability").method == "approachability"
    with pytest.raises(errors.TruecastError):
        tc.Recalibrator.paper(0)


def test_what_comes_out_can_go_in_again() -> None:
    first, second = tc.Recalibrator(), tc.Recalibrator("running-mean")
    for y in (1.0, -2.0, 4.0):
        forecast = tc.Gaussian(0.0, 1.0)
        calibrated = first.recalibrate(forecast)
        assert second.recalibrate(calibrated).base == calibrated
        second.observe(calibrated, y)
        first.observe(forecast, y)
    assert second.steps == 3
