"""One step of Truecast from Python beside other libraries, on one stream: time, coverage and CRPS.

    python bench/python/peers.py --setup            # once: an environment in target/bench-python, with a release wheel of this tree
    python bench/python/peers.py                    # the tables, as Markdown

Every library does what its manual says for a stream: give an 80 % interval for the next outcome, then learn the outcome. The forecaster is the same for all
and costs nothing: its numbers are there before the clock starts. What a library wants of them it gets: a normal distribution, a point, or the residuals.
Rounds are interleaved, so that a busy machine is busy for all; ratios are medians over the rounds of ratios within a round.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "target" / "bench-python"

# One thread each: most of these libraries have one, and a step is too small for more.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

SEED = 20260214
WARM_UP = 500
SCORED = 5_000
BATCH = 1_000_000
SERIES = 100
COVERAGE = 0.8


@dataclass
class Stream:
    """Forecasts and outcomes, as lists for loops and as arrays for batches."""

    mu: list[float]
    sigma: list[float]
    y: list[float]

    def first(self, count: int) -> Stream:
        return Stream(self.mu[:count], self.sigma[:count], self.y[:count])


def stream(count: int) -> Stream:
    """A forecaster whose intervals are too narrow and lie a little too low, with heavy tails; the noise doubles after each 1,000 steps and falls back after the next."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    mu = 10.0 * np.sin(np.arange(count) / 50.0) + rng.normal(0.0, 1.0, count)
    sigma = rng.uniform(0.8, 1.2, count)
    scale = np.where(np.arange(count) // 1_000 % 2 == 0, 1.3, 2.6)
    y = mu + 0.3 + scale * sigma * rng.standard_t(5.0, count)
    return Stream(mu.tolist(), sigma.tolist(), y.tolist())


# What a run leaves for its scores, if they are wanted: an interval and, where there is a distribution, its CRPS.
Scores = list[tuple[float, float, float]]
Runner = Callable[[Stream, "Scores | None"], float]
NO_DISTRIBUTION = float("nan")


def truecast_steps(make: Callable[[], Any]) -> Runner:
    def run(stream: Stream, scores: Scores | None) -> float:
        import truecast as tc

        recalibrator, gaussian = make(), tc.Gaussian
        begin = time.perf_counter()
        for mu, sigma, y in zip(stream.mu, stream.sigma, stream.y, strict=True):
            forecast = gaussian(mu, sigma)
            calibrated = recalibrator.recalibrate(forecast)
            low, high = calibrated.interval(COVERAGE)
            recalibrator.observe(forecast, y)
            if scores is not None:
                scores.append((low, high, calibrated.crps(y)))
        return time.perf_counter() - begin

    return run


def truecast_batch(make: Callable[[], Any]) -> Runner:
    def run(stream: Stream, scores: Scores | None) -> float:
        import numpy as np
        import truecast as tc

        recalibrator, forecasts, y = make(), tc.Forecasts.gaussian(stream.mu, stream.sigma), np.array(stream.y)
        begin = time.perf_counter()
        found = recalibrator.run(forecasts, y, coverage=COVERAGE, crps=scores is not None)
        seconds = time.perf_counter() - begin
        if scores is not None:
            scores.extend(zip(found.lower, found.upper, found.crps, strict=True))
        return seconds

    return run


def truecast_fleet(make: Callable[[], Any]) -> Runner:
    """All rows in one call on all cores, their series by name, one after the other."""

    def run(stream: Stream, scores: Scores | None) -> float:
        import numpy as np
        import truecast as tc

        fleet, forecasts, y = make(), tc.Forecasts.gaussian(stream.mu, stream.sigma), np.array(stream.y)
        names = [f"series {k}" for k in range(SERIES)]
        keys = [names[row % SERIES] for row in range(len(stream.y))]
        begin = time.perf_counter()
        fleet.run(keys, forecasts, y, coverage=COVERAGE)
        return time.perf_counter() - begin

    return run


def river_jackknife(stream: Stream, scores: Scores | None) -> float:
    from river import base, conf

    class Given(base.Regressor):
        """The forecaster: the forecast is a feature."""

        def learn_one(self, x: dict[Any, Any], y: Any) -> None:
            pass

        def predict_one(self, x: dict[Any, Any]) -> Any:
            return x["mu"]

    model = conf.RegressionJackknife(Given(), confidence_level=COVERAGE)
    features = [{"mu": mu} for mu in stream.mu]
    begin = time.perf_counter()
    for x, y in zip(features, stream.y, strict=True):
        interval = model.predict_one(x, with_interval=True)
        model.learn_one(x, y)
        if scores is not None:
            scores.append((interval.lower, interval.upper, NO_DISTRIBUTION))
    return time.perf_counter() - begin


def skaters(make: Callable[[], Any]) -> Runner:
    """A forecaster of the residuals, given as a distribution."""

    def run(stream: Stream, scores: Scores | None) -> float:
        from skaters.dist import Dist

        skater, state, ahead = make(), None, Dist.gaussian(0.0, 1.0)
        tail = (1.0 - COVERAGE) / 2.0
        begin = time.perf_counter()
        for mu, y in zip(stream.mu, stream.y, strict=True):
            low, high = mu + ahead.quantile(tail), mu + ahead.quantile(1.0 - tail)
            if scores is not None:
                scores.append((low, high, ahead.crps(y - mu)))
            (ahead,), state = skater(y - mu, state)
        return time.perf_counter() - begin

    return run


def crepes_online(stream: Stream, scores: Scores | None) -> float:
    """The whole stream in one call, which wants all outcomes at once: a batch."""
    import numpy as np
    import truecast as tc
    from crepes.base import ConformalPredictiveSystem

    system = ConformalPredictiveSystem()
    mu, sigma, y = np.array(stream.mu), np.array(stream.sigma), np.array(stream.y)
    begin = time.perf_counter()
    intervals = system.predict_int_online(mu, y, sigmas=sigma, confidence=COVERAGE)
    seconds = time.perf_counter() - begin
    if scores is not None:
        relative = (y - mu) / sigma
        for t, (low, high) in enumerate(intervals):
            # Its predictive distribution is the empirical one of the relative residuals so far.
            crps = tc.scores.crps_ensemble(y[t], mu[t] + sigma[t] * relative[:t]) if t else NO_DISTRIBUTION
            scores.append((low, high, crps))
    return seconds


def crepes_steps(stream: Stream, scores: Scores | None) -> float:
    """A step at a time, which this library has by fitting again."""
    import numpy as np
    from crepes.base import ConformalPredictiveSystem

    system, residuals, scales = ConformalPredictiveSystem(), np.zeros(len(stream.y)), np.array(stream.sigma)
    begin = time.perf_counter()
    for t, (mu, sigma, y) in enumerate(zip(stream.mu, stream.sigma, stream.y, strict=True)):
        if t >= 20:
            system.fit(residuals[:t], sigmas=scales[:t])
            system.predict_int(np.array([mu]), sigmas=np.array([sigma]), confidence=COVERAGE)
        residuals[t] = y - mu
    return time.perf_counter() - begin


def mapie_aci(stream: Stream, scores: Scores | None) -> float:
    """Adaptive conformal inference: predict, adapt the level, replace the oldest of 500 scores."""
    import numpy as np
    from mapie.regression import TimeSeriesRegressor
    from sklearn.base import BaseEstimator, RegressorMixin

    class Given(RegressorMixin, BaseEstimator):
        """The forecaster: the forecast is the feature."""

        def fit(self, X: Any, y: Any) -> Any:
            self.n_features_in_ = 1
            self.is_fitted_ = True
            return self

        def predict(self, X: Any) -> Any:
            return np.asarray(X)[:, 0]

    mu, y = np.array(stream.mu)[:, None], np.array(stream.y)
    model = TimeSeriesRegressor(Given().fit(mu, y), method="aci", cv="prefit")
    model.fit(mu[:WARM_UP], y[:WARM_UP])
    if scores is not None:
        scores.extend([(float("nan"), float("nan"), NO_DISTRIBUTION)] * WARM_UP)
    begin = time.perf_counter()
    # It warns at every update, of a change that does not concern this use; a filter of its own, since libraries replace it.
    quiet = warnings.catch_warnings()
    quiet.__enter__()
    warnings.simplefilter("ignore")
    for t in range(WARM_UP, len(y)):
        x, outcome = mu[t : t + 1], y[t : t + 1]
        _, interval = model.predict(x, confidence_level=COVERAGE, allow_infinite_bounds=True)
        model.adapt_conformal_inference(x, outcome, gamma=0.01, confidence_level=COVERAGE)
        model.update(x, outcome)
        if scores is not None:
            scores.append((interval[0, 0, 0], interval[0, 1, 0], NO_DISTRIBUTION))
    seconds = time.perf_counter() - begin
    quiet.__exit__(None, None, None)
    # As of all steps, so that the caller's division is right.
    return seconds * len(y) / (len(y) - WARM_UP)


def online_cp(stream: Stream, scores: Scores | None) -> float:
    """The conformal predictive system of Dempster and Hill on the residuals."""
    import numpy as np
    import truecast as tc
    from online_cp.CPS import DempsterHillConformalPredictiveSystem

    system = DempsterHillConformalPredictiveSystem(epsilon=1.0 - COVERAGE)
    system.learn_initial_training_set(np.zeros(0))
    begin = time.perf_counter()
    for mu, y in zip(stream.mu, stream.y, strict=True):
        distribution = system.predict_cpd()
        residual = distribution.predict_set(tau=0.5)
        if scores is not None:
            (low, high), = residual.intervals
            known = system.y
            crps = tc.scores.crps_ensemble(y, mu + known) if len(known) else NO_DISTRIBUTION
            scores.append((mu + low, mu + high, crps))
        system.learn_one(y - mu)
    return time.perf_counter() - begin


def authors(folder: Path) -> Runner:
    """`EWARecalibratedRegressionForecaster` of the repository kuleshov/online-learning, with N and eta of its example."""

    def run(stream: Stream, scores: Scores | None) -> float:
        from scipy.special import ndtr

        sys.path.insert(0, str(folder))
        recalibrator = importlib.import_module("recalibration").EWARecalibratedRegressionForecaster(20, 5.0)
        begin = time.perf_counter()
        for mu, sigma, y in zip(stream.mu, stream.sigma, stream.y, strict=True):
            _ = [recalibrator.expected_prediction(i / 20) for i in range(21)]
            recalibrator.observe(y, float(ndtr((y - mu) / sigma)))
        return time.perf_counter() - begin

    return run


@dataclass
class Peer:
    name: str
    answers: str
    run: Runner
    steps: int
    rounds: int
    scored: bool = True


def peers(authors_code: Path | None) -> list[Peer]:
    import truecast as tc
    from skaters import laplace
    from skaters.leaf import crps_leaf

    found = [
        Peer("**truecast**, default", "full CDF", truecast_steps(tc.Recalibrator), 20_000, 11),
        Peer("truecast, paper's setting (N = 20)", "full CDF", truecast_steps(tc.Recalibrator.paper), 20_000, 11),
        Peer("river `RegressionJackknife`", "one interval", river_jackknife, 20_000, 11),
        Peer("skaters `crps_leaf`", "full CDF", skaters(crps_leaf), 2_000, 5),
        Peer("skaters `laplace`", "full CDF", skaters(laplace), 500, 3),
        Peer("crepes, fitted again at each step", "full CDF", crepes_steps, 5_000, 3, scored=False),
        Peer("MAPIE `TimeSeriesRegressor`, ACI", "one interval", mapie_aci, 1_000, 3),
        Peer("online-cp, Dempster–Hill", "full CDF", online_cp, 5_000, 3),
        Peer("**truecast** `run`, default", "full CDF", truecast_batch(tc.Recalibrator), BATCH, 5),
        Peer("truecast `run`, paper's setting", "full CDF", truecast_batch(tc.Recalibrator.paper), BATCH, 5),
        Peer(f"**truecast** `Fleet.run`, default, {SERIES} series", "full CDF", truecast_fleet(tc.Fleet), BATCH, 5, scored=False),
        Peer("crepes `predict_int_online`", "full CDF", crepes_online, 20_000, 5),
    ]
    if authors_code is not None:
        found.append(Peer("the authors' code", "CDF at 21 levels", authors(authors_code), 3, 1, scored=False))
    return found


def measure(all_peers: list[Peer], rows: Stream) -> list[list[float]]:
    """Microseconds per step of each peer in each round; peers that take long have fewer rounds."""
    times: list[list[float]] = [[] for _ in all_peers]
    for number in range(max(peer.rounds for peer in all_peers)):
        for peer, found in zip(all_peers, times, strict=True):
            if number < peer.rounds:
                found.append(peer.run(rows.first(peer.steps), None) / peer.steps * 1e6)
    return times


def score(peer: Peer, rows: Stream) -> tuple[str, str, str]:
    """Coverage, mean width and mean CRPS after the warm-up."""
    if not peer.scored:
        return "", "", ""
    scores: Scores = []
    peer.run(rows.first(SCORED), scores)
    kept = list(zip(scores, rows.y[:SCORED], strict=True))[WARM_UP:]
    covered = statistics.fmean(low <= y <= high for (low, high, _), y in kept)
    width = statistics.fmean(high - low for (low, high, _), _ in kept)
    crps = statistics.fmean(crps for (_, _, crps), _ in kept)
    return f"{100 * covered:.1f} %", f"{width:.2f}", "" if crps != crps else f"{crps:.4f}"


def tables(authors_code: Path | None) -> str:
    warnings.simplefilter("ignore")
    rows = stream(BATCH)
    all_peers = peers(authors_code)
    times = measure(all_peers, rows)
    reference = next(i for i, peer in enumerate(all_peers) if "Jackknife" in peer.name)
    lines = [
        "| | answers | µs per step, best | median | times the jackknife | coverage of 80 % | mean width | CRPS |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for peer, found in zip(all_peers, times, strict=True):
        ratio = statistics.median(own / other for own, other in zip(found, times[reference], strict=False))
        cells = [f"{min(found):,.3g}", f"{statistics.median(found):,.3g}", f"{ratio:,.3g}"]
        if min(found) >= 1000:
            cells = [f"{min(found):,.0f}", f"{statistics.median(found):,.0f}", f"{ratio:,.0f}"]
        lines.append(f"| {' | '.join([peer.name, peer.answers, *cells, *score(peer, rows)])} |")
    lines += ["", f"The forecaster itself: coverage {raw_coverage(rows)}, CRPS {raw_crps(rows)}."]
    return "\n".join(lines)


def raw_coverage(rows: Stream) -> str:
    z = 1.2815515655446004
    kept = list(zip(rows.mu, rows.sigma, rows.y, strict=True))[WARM_UP:SCORED]
    return f"{100 * statistics.fmean(abs(y - mu) <= z * sigma for mu, sigma, y in kept):.1f} %"


def raw_crps(rows: Stream) -> str:
    import truecast as tc

    kept = slice(WARM_UP, SCORED)
    return f"{tc.scores.crps_normal(rows.y[kept], rows.mu[kept], rows.sigma[kept]).mean():.4f}"


def setup() -> None:
    """A fresh environment with the pinned peers and a release wheel of this tree."""
    python = ENVIRONMENT / "bin" / "python"
    requirements = Path(__file__).with_name("requirements.txt")
    for command in (
        [sys.executable, "-m", "venv", "--clear", ENVIRONMENT],
        [python, "-m", "pip", "install", "--quiet", "maturin==1.16.0", "-r", requirements],
        [ENVIRONMENT / "bin" / "maturin", "build", "--release", "--interpreter", python, "--out", ENVIRONMENT / "wheels"],
    ):
        subprocess.run([str(part) for part in command], check=True, cwd=ROOT)
    wheels = sorted((ENVIRONMENT / "wheels").glob("truecast-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    install = [str(python), "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", str(wheels[-1])]
    subprocess.run(install, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true", help="make the environment")
    parser.add_argument("--authors", type=Path, metavar="FOLDER", help="where the authors' recalibration.py lies, if it is to be measured")
    arguments = parser.parse_args()
    if arguments.setup:
        setup()
        return
    python = ENVIRONMENT / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        os.execv(python, [str(python), *sys.argv])
    print(tables(arguments.authors))


if __name__ == "__main__":
    main()
