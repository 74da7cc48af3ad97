"""Spaces, studies and `minimize`: the same numbers as Rust, failures that are never numbers, resumption, and what is refused."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import shutil
import subprocess
import threading
import time
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import truecast as tc
from truecast import errors

ROOT = Path(__file__).parents[2]
SPACE: dict[str, Any] = {
    "x": (-2.0, 3.0),
    "rate": tc.Real(1e-4, 1.0, log=True),
    "count": tc.Integer(1, 6),
    "kind": tc.Choice(["a", "b", "c"]),
}


def cost(point: dict[str, Any]) -> float:
    """Least at x = 1, rate = 0.25, count = 4, kind = b; sums and products alone, which all languages round alike."""
    x, rate, count = point["x"] - 1.0, point["rate"] - 0.25, float(point["count"]) - 4.0
    return float(x * x + 3.0 * rate * rate + 0.25 * count * count + (0.0 if point["kind"] == "b" else 1.0))


def advance(study: tc.Study, trials: int) -> None:
    while len(study) < trials:
        point = study.suggest()
        study.observe(point, cost(point))


def state(study: tc.Study) -> Any:
    return json.loads(study.to_bytes())["study"]


# The same as Rust.


@pytest.fixture(scope="session")
def trajectory() -> Path:
    """The program of Rust that runs a study, built if need be."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "debug" / "examples" / "trajectory"
    if shutil.which("cargo") is not None:
        build = ["cargo", "build", "--quiet", "-p", "truecast-bo", "--example", "trajectory"]
        subprocess.run(build, cwd=ROOT, check=True)
    assert binary.exists(), f"{binary} is not there, and there is no cargo to build it"
    return binary


CASES = [
    ("none", "lcb", None, 0),
    ("paper", "lcb", None, 1),
    ("ledger", "ei", 0.0, 2),
    ("online", "pi", 0.01, 3),
    ("online-scale", "thompson", None, 2**64 - 1),
]


@pytest.mark.parametrize(("calibration", "acquisition", "noise", "seed"), CASES)
def test_a_study_is_that_of_rust_bit_for_bit(
    trajectory: Path, calibration: Any, acquisition: Any, noise: float | None, seed: int
) -> None:
    asked = "learned" if noise is None else repr(noise)
    command = [str(trajectory), calibration, acquisition, asked, str(seed)]
    rust = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    study = tc.Study(SPACE, calibration=calibration, acquisition=acquisition, noise=noise, seed=seed)
    while len(study) < 20:
        for point in study.suggest_batch(3 if len(study) == 10 else 1):
            number = next(trial.number for trial in study.log if trial.point == point)
            if number % 7 == 6:
                study.observe_failed(point, "every seventh")
            else:
                study.observe(point, cost(point))
    # Settings, log and hyperparameters; floats were written so that they read back as they were.
    assert state(study) == rust
    assert [trial.origin for trial in study.log[:5]] == ["design"] * 5
    assert any(trial.origin == "acquisition" for trial in study.log)


def test_minimize_is_the_loop() -> None:
    study = tc.Study(SPACE, calibration="online", seed=3)
    advance(study, 14)
    found = tc.minimize(cost, SPACE, trials=14, calibration="online", seed=3)
    assert state(found.study) == state(study)
    assert found.best_value == min(trial.value for trial in found.log if trial.value is not None) == cost(found.best_point)
    assert repr(found).startswith(f"Minimum(best_value={found.best_value!r}") and repr(found).endswith("trials=14)")


# What it finds.


def test_the_minimum_is_found() -> None:
    found = tc.minimize(cost, SPACE, trials=40, noise=0.0, seed=5)
    assert found.best_point["kind"] == "b" and found.best_point["count"] == 4
    # 40 random points of this space reach 0.1 in less than one study of ten.
    assert found.best_value < 0.1


def test_the_log_says_what_was_foretold() -> None:
    found = tc.minimize(cost, SPACE, trials=12, calibration="online-scale", seed=1)
    for trial in found.log:
        assert (trial.forecast is None) == (trial.interval is None) == (trial.origin == "design")
        if trial.forecast is not None and trial.interval is not None:
            low, high = trial.forecast.interval(0.8)
            # This kind narrows only.
            assert low - 1e-9 <= trial.interval[0] < trial.interval[1] <= high + 1e-9
            assert trial.multiplier is not None and 0.1 <= trial.multiplier <= 2.0
    assert [trial.number for trial in found.log] == list(range(12))


def test_points_have_the_types_of_their_dimensions() -> None:
    point = tc.Study(SPACE).suggest()
    assert list(point) == list(SPACE)
    assert [type(value) for value in point.values()] == [float, float, int, str]


# Asking and telling.


def test_outcomes_may_come_late_and_for_points_that_nobody_suggested() -> None:
    study = tc.Study({"x": (0.0, 1.0)}, initial=2)
    points = study.suggest_batch(4)
    assert study.pending == points and study.best is None and len(study) == 4
    for point in reversed(points):
        study.observe(MappingProxyType(point), np.float64(point["x"]))
    study.observe(OrderedDict(x=0), 0)
    assert study.pending == [] and [trial.origin for trial in study.log][-1] == "told"
    best = study.best
    assert best is not None and best.value == 0.0 and best.point == {"x": 0.0}


@pytest.mark.parametrize("at", [0, 3, 5, 9])
def test_a_saved_study_goes_on_bit_for_bit(at: int) -> None:
    whole = tc.Study(SPACE, calibration="ledger", acquisition="ei", seed=9)
    advance(whole, 12)
    half = tc.Study(SPACE, calibration="ledger", acquisition="ei", seed=9)
    advance(half, at)
    waiting = half.suggest()
    for loaded in (tc.Study.from_bytes(half.to_bytes()), pickle.loads(pickle.dumps(half)), copy.deepcopy(half), half.copy()):
        assert loaded.pending == [waiting]
        loaded.observe(waiting, cost(waiting))
        advance(loaded, 12)
        assert loaded.to_bytes() == whole.to_bytes()
    assert half.pending == [waiting]


def test_minimize_goes_on_with_a_study_and_its_pending_points() -> None:
    study = tc.Study(SPACE, seed=2)
    calls = []

    def falls_once(point: dict[str, Any]) -> float:
        calls.append(point)
        if len(calls) == 4:
            raise RuntimeError("the machine went away")
        return cost(point)

    with pytest.raises(RuntimeError, match="went away"):
        tc.minimize(falls_once, study, trials=9)
    assert study.pending == [calls[3]] and len(study) == 4
    found = tc.minimize(falls_once, study, trials=9)
    assert calls[4] == calls[3] and len(calls) == 10
    assert found.study is study and state(study) == state(tc.minimize(cost, SPACE, trials=9, seed=2).study)
    with pytest.raises(TypeError, match="seed"):
        tc.minimize(cost, study, trials=10, seed=1)


def test_other_threads_run_while_a_point_is_looked_for() -> None:
    study = tc.Study({f"x{i}": (0.0, 1.0) for i in range(8)}, seed=1)
    rng = np.random.default_rng(0)
    for row in rng.uniform(size=(150, 8)):
        study.observe({f"x{i}": value for i, value in enumerate(row)}, float(row @ row))
    for _ in range(5):
        study.suggest()
    ticks, done = 0, threading.Event()

    def look() -> None:
        study.suggest()
        done.set()

    thread = threading.Thread(target=look)
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    thread.join()
    # With the lock held there would be one or two: nothing could be counted before the thread is done.
    assert ticks > 5


# Failures.


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101])
def test_a_value_that_is_no_outcome_is_a_failed_trial(value: float) -> None:
    found = tc.minimize(lambda p: value if p["x"] < 0.5 else p["x"], {"x": (0.0, 1.0)}, trials=8, seed=1)
    for trial in found.log:
        if trial.point["x"] < 0.5:
            assert trial.value is None and trial.failed == f"the function returned {value}"
        else:
            assert trial.value == trial.point["x"] and trial.failed is None
    assert found.best_value >= 0.5
    assert any(trial.failed for trial in found.log)


def diverges(point: dict[str, Any]) -> float:
    if point["x"] < 0.5:
        raise ZeroDivisionError("no step size")
    return float(point["x"])


def test_exceptions_are_raised_unless_they_are_to_be_failures() -> None:
    space = {"x": (0.0, 1.0)}
    with pytest.raises(ZeroDivisionError):
        tc.minimize(diverges, space, trials=8)
    whole = tc.minimize(diverges, space, trials=8, on_error="fail")
    assert {trial.failed for trial in whole.log} == {None, "ZeroDivisionError: no step size"}
    kinds: tuple[Any, ...] = (ArithmeticError, (KeyError, ZeroDivisionError))
    for kind in kinds:
        assert state(tc.minimize(diverges, space, trials=8, on_error=kind).study) == state(whole.study)
    with pytest.raises(ZeroDivisionError):
        tc.minimize(diverges, space, trials=8, on_error=(KeyError, OSError))


def test_interrupts_are_never_failures() -> None:
    def interrupted(point: dict[str, Any]) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tc.minimize(interrupted, {"x": (0.0, 1.0)}, on_error="fail")


def test_without_any_outcome_there_is_no_best() -> None:
    found = tc.minimize(lambda point: math.nan, {"x": (0.0, 1.0)}, trials=3)
    assert found.study.best is None and "no outcome" in repr(found)
    for ask in ("best", "best_value", "best_point"):
        with pytest.raises(errors.NoOutcomeError, match="none of 3 trials .* returned nan"):
            getattr(found, ask)


def test_points_near_a_failure_are_not_suggested_again() -> None:
    study = tc.Study({"x": (0.0, 1.0)}, initial=3, noise=0.0)
    for _ in range(12):
        point = study.suggest()
        if point["x"] < 0.3:
            study.observe_failed(point, "broken")
        else:
            study.observe(point, point["x"])
    failed = [trial.point["x"] for trial in study.log if trial.failed]
    places = sorted(float(x) for x in failed)
    assert all(b - a > 0.01 for a, b in zip(places, places[1:], strict=False))


# Callbacks.


def test_the_callback_sees_every_trial_and_can_stop() -> None:
    seen: list[tuple[int, float | None]] = []

    def watch(study: tc.Study, trial: tc.Trial) -> bool:
        seen.append((trial.number, trial.value))
        return len(study) == 6

    found = tc.minimize(cost, SPACE, trials=20, callback=watch)
    assert seen == [(trial.number, trial.value) for trial in found.log] and len(seen) == 6


def test_what_the_function_does_to_its_point_is_its_own_business() -> None:
    found = tc.minimize(lambda point: float(point.pop("x")), {"x": (0.0, 1.0)}, trials=4)
    assert all("x" in trial.point for trial in found.log)


# Spaces.


def test_a_space_is_its_dimensions() -> None:
    space = tc.Space(SPACE)
    assert space.dimensions == {**SPACE, "x": tc.Real(-2.0, 3.0)}
    assert tc.Space(space) == space == tc.Space(space.dimensions) == pickle.loads(pickle.dumps(space)) == tc.Study(space).space
    assert space != tc.Space({"x": (0.0, 1.0)}) and len(space) == 4
    assert tc.Space({"n": tc.Integer(1, 1000, log=True)}).dimensions["n"] == tc.Integer(1, 1000, log=True)


BAD_SPACES: list[tuple[Any, type[Exception]]] = [
    ({}, errors.SpaceError),
    (3, TypeError),
    ([("x", (0.0, 1.0))], TypeError),
    ({1: (0.0, 1.0)}, TypeError),
    ({"x": (0.0, 1.0, 2.0)}, TypeError),
    ({"x": "ab"}, TypeError),
    ({"x": None}, TypeError),
    ({"x": tc.Real("0", "1")}, TypeError),  # type: ignore[arg-type]
    ({"x": tc.Integer(0.5, 3)}, TypeError),  # type: ignore[arg-type]
    ({"x": tc.Choice("ab")}, TypeError),
    ({"x": tc.Choice([1, 2])}, TypeError),  # type: ignore[list-item]
    ({"x": (1.0, 1.0)}, errors.DimensionError),
    ({"x": (math.nan, 1.0)}, errors.DimensionError),
    ({"x": (0.0, math.inf)}, errors.DimensionError),
    ({"x": (-1e308, 1e308)}, errors.DimensionError),
    ({"x": tc.Real(0.0, 1.0, log=True)}, errors.DimensionError),
    ({"x": tc.Integer(0, 10, log=True)}, errors.DimensionError),
    ({"x": tc.Integer(0, 2**54)}, errors.DimensionError),
    ({"x": tc.Integer(0, 10**30)}, errors.DimensionError),
    ({"x": tc.Choice(["a"])}, errors.DimensionError),
    ({"x": tc.Choice(["a", "a"])}, errors.DimensionError),
]


@pytest.mark.parametrize(("space", "refused"), BAD_SPACES, ids=repr)
def test_bad_spaces(space: Any, refused: type[Exception]) -> None:
    for make in (tc.Space, tc.Study):
        with pytest.raises(refused):
            make(space)
    with pytest.raises(refused):
        tc.minimize(cost, space)


BAD_SETTINGS: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"acquisition": "ucb"}, errors.UnknownNameError),
    ({"calibration": "Online"}, errors.UnknownNameError),
    ({"design": "sobol"}, errors.UnknownNameError),
    ({"acquisition": "ei", "kappa": 2.0}, errors.UnusedSettingError),
    ({"margin": 0.1}, errors.UnusedSettingError),
    ({"shrinkage": 4.0}, errors.UnusedSettingError),
    ({"calibration": "paper", "shrinkage": 4.0}, errors.UnusedSettingError),
    ({"kappa": -1.0}, errors.OutOfRangeError),
    ({"kappa": math.nan}, errors.OutOfRangeError),
    ({"acquisition": "pi", "margin": math.inf}, errors.OutOfRangeError),
    ({"calibration": "online", "shrinkage": -1.0}, errors.OutOfRangeError),
    ({"calibration": "ledger", "shrinkage": math.nan}, errors.InvalidInputError),
    ({"noise": -1e-9}, errors.OutOfRangeError),
    ({"noise": math.inf}, errors.OutOfRangeError),
    ({"initial": 10**6}, errors.OutOfRangeError),
    ({"initial": -1}, OverflowError),
    ({"seed": -1}, OverflowError),
    ({"seed": 0.5}, TypeError),
    ({"initial": "5"}, TypeError),
    ({"tries": 5}, TypeError),
]


@pytest.mark.parametrize(("settings", "refused"), BAD_SETTINGS, ids=repr)
def test_bad_settings(settings: dict[str, Any], refused: type[Exception]) -> None:
    with pytest.raises(refused):
        tc.Study({"x": (0.0, 1.0)}, **settings)


@pytest.mark.parametrize("on_error", ["ignore", None, int, KeyboardInterrupt, (ValueError, "fail")])
def test_bad_on_error(on_error: Any) -> None:
    with pytest.raises(TypeError, match="on_error"):
        tc.minimize(cost, SPACE, on_error=on_error)


POINT = {"x": 0.5, "rate": 0.1, "count": 2, "kind": "a"}
BAD_POINTS: list[tuple[Any, type[Exception]]] = [
    ([0.5, 0.1, 2, "a"], TypeError),
    (None, TypeError),
    ({}, errors.PointNamesError),
    ({**POINT, "more": 1}, errors.PointNamesError),
    ({**POINT, 3: 1}, errors.PointNamesError),
    ({**POINT, "x": "0.5"}, TypeError),
    ({**POINT, "x": None}, TypeError),
    ({**POINT, "count": 2.0}, TypeError),
    ({**POINT, "kind": 0}, TypeError),
    ({**POINT, "x": math.nan}, errors.PointValueError),
    ({**POINT, "x": 3.0000001}, errors.PointValueError),
    ({**POINT, "rate": 0.0}, errors.PointValueError),
    ({**POINT, "count": 7}, errors.PointValueError),
    ({**POINT, "count": 10**30}, errors.PointValueError),
    ({**POINT, "kind": "d"}, errors.PointValueError),
]


@pytest.mark.parametrize(("point", "refused"), BAD_POINTS, ids=repr)
def test_bad_points_change_nothing(point: Any, refused: type[Exception]) -> None:
    study = tc.Study(SPACE)
    before = study.to_bytes()
    with pytest.raises(refused):
        study.observe(point, 1.0)
    with pytest.raises(refused):
        study.observe_failed(point, "why")
    assert study.to_bytes() == before


def test_what_was_refused_is_said() -> None:
    study = tc.Study(SPACE)
    with pytest.raises(errors.PointNamesError) as names:
        study.observe({"x": 0.5, "rate": 0.1, "number": 2}, 1.0)
    assert names.value.missing == ("count", "kind") and names.value.unknown == ("number",)
    with pytest.raises(errors.PointValueError, match="a whole number from 1 to 6") as value:
        study.observe({**POINT, "count": 7}, 1.0)
    assert (value.value.name, value.value.found) == ("count", "7")
    for outcome in (math.nan, math.inf, 1e101):
        with pytest.raises(errors.OutcomeError) as refused:
            study.observe(POINT, outcome)
        assert refused.value.value == outcome or math.isnan(outcome)
    with pytest.raises(TypeError):
        study.observe(POINT, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        study.observe(POINT, "1.0")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        study.observe_failed(POINT, None)  # type: ignore[arg-type]
    assert len(study) == 0


def test_a_result_that_is_no_number_is_a_type_error_whatever_is_asked() -> None:
    with pytest.raises(TypeError):
        tc.minimize(lambda point: "low", {"x": (0.0, 1.0)}, on_error="fail")  # type: ignore[arg-type, return-value]


def damaged(change: Any) -> bytes:
    study = tc.Study({"x": (0.0, 1.0)}, initial=2)
    for point in study.suggest_batch(2):
        study.observe(point, point["x"])
    study.suggest()
    content = json.loads(study.to_bytes())
    change(content)
    return json.dumps(content).encode()


def test_bad_states() -> None:
    def put(*path: Any) -> Any:
        *parents, last, value = path

        def change(content: Any) -> None:
            for step in parents:
                content = content[step]
            content[last] = value

        return change

    assert tc.Study.from_bytes(damaged(lambda content: None)).pending
    # As the command writes it: who gave the outcomes is said beside the study.
    assert tc.Study.from_bytes(damaged(lambda content: content.update(objective={"command": "true"}, maximize=False))).pending
    refusals: list[tuple[bytes, type[Exception]]] = [
        (b"", errors.BadMagicError),
        (b"\xff\xfe", errors.BadMagicError),
        (b"[" * 100_000, errors.BadMagicError),
        (b"[1, 2]", errors.BadMagicError),
        (b"{}", errors.BadMagicError),
        (tc.Recalibrator().to_bytes(), errors.BadMagicError),
        (tc.Study(SPACE).to_bytes()[:-1], errors.BadMagicError),
        (damaged(put("version", 2)), errors.UnsupportedVersionError),
        (damaged(put("version", "1")), errors.MalformedError),
        (damaged(put("maximize", True)), errors.MalformedError),
        (damaged(put("study", None)), errors.MalformedError),
        (damaged(put("study", "space", 0, "real", "high", -1.0)), errors.MalformedError),
        (damaged(put("study", "settings", "initial", -1)), errors.MalformedError),
        (damaged(put("study", "settings", "seed", 0.5)), errors.MalformedError),
        (damaged(put("study", "steps", 0, "number", 7)), errors.MalformedError),
        (damaged(put("study", "steps", 0, "point", [2.0])), errors.MalformedError),
        (damaged(put("study", "steps", 0, "evaluation", {"outcome": 1e200})), errors.MalformedError),
        (damaged(put("study", "fit", "outcomes", 99)), errors.MalformedError),
    ]
    for content, refused in refusals:
        with pytest.raises(refused):
            tc.Study.from_bytes(content)
    with pytest.raises(TypeError):
        tc.Study.from_bytes("text")  # type: ignore[arg-type]


def test_it_is_shown() -> None:
    study = tc.Study({"<x>": (0.0, 1.0)})
    assert repr(study) == "Study(trials=0, best=None)"
    study.observe({"<x>": 0.25}, 1.5)
    assert repr(study) == "Study(trials=1, best=1.5)"
    assert "<th" in study._repr_html_() and "&lt;x&gt;" in study._repr_html_()
    assert repr(study.space) == "Space({'<x>': Real(low=0.0, high=1.0, log=False)})"
