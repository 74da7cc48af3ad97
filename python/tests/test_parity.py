"""The same numbers as the Rust library, bit for bit: the command `truecast` is Rust from end to end, and prints floats that read back as they were."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import truecast as tc

Q = (0.05, 0.25, 0.5, 0.75, 0.95)


def rows(form: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Names of the forecast's columns, the forecasts, the outcomes and the keys."""
    rng = np.random.default_rng(77)
    count = 300
    mu, sigma = rng.normal(50.0, 20.0, count), rng.lognormal(0.0, 0.7, count)
    y = mu + 1.7 * sigma * rng.standard_t(3.0, count) + 0.4 * sigma
    keys = [f"k{key}" for key in rng.integers(0, 3, count)]
    if form == "gaussian":
        return ["mean", "std"], np.column_stack([mu, sigma]), y, keys
    table = np.sort(mu[:, None] + sigma[:, None] * rng.normal(size=(count, len(Q))), axis=1)
    if form == "quantiles":
        return [f"q{q}" for q in Q], table, y, keys
    return [f"sample_{i}" for i in range(len(Q))], table, y, keys


def calibrate(
    truecast: str, folder: Path, form: str, *flags: str, keyed: bool = True
) -> tuple[tc.Forecasts, NDArray[np.float64], list[str], NDArray[np.float64], bytes]:
    """Runs the command: the batch, outcomes and keys that it saw, what it answered and the state it left."""
    names, values, y, keys = rows(form)
    source, answer, state = folder / "in.csv", folder / "out.csv", folder / "state"
    with source.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(["key"] if keyed else []), *names, "y"])
        for key, row, outcome in zip(keys, values, y, strict=True):
            writer.writerow([*([key] if keyed else []), *map(repr, row.tolist()), repr(float(outcome))])
    command = [truecast, "calibrate", str(source), "-o", str(answer), "--state", str(state), *flags]
    subprocess.run(command, check=True, capture_output=True)
    with answer.open(newline="") as file:
        answered = np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])
    if form == "gaussian":
        batch = tc.Forecasts.gaussian(values[:, 0], values[:, 1])
    elif form == "quantiles":
        batch = tc.Forecasts.quantiles(Q, values)
    else:
        batch = tc.Forecasts.samples(values)
    return batch, y, keys, answered, state.read_bytes()


def check(run: tc.Run, form: str, answered: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    if form == "gaussian":
        assert run.mean is not None and run.std is not None
        assert np.column_stack([run.mean, run.std]).tolist() == answered.tolist()
    elif form == "quantiles":
        assert run.quantiles is not None and run.quantiles.tolist() == answered.tolist()
    else:
        # Each member moves to the quantile of its rank.
        assert run.quantiles is not None
        ranks = values.argsort(axis=1, kind="stable").argsort(axis=1)
        assert np.take_along_axis(run.quantiles, ranks, axis=1).tolist() == answered.tolist()


@pytest.mark.parametrize("form", ["gaussian", "quantiles", "samples"])
def test_a_fleet_is_the_command(truecast: str, tmp_path: Path, method: Any, form: str) -> None:
    batch, y, keys, answered, state = calibrate(truecast, tmp_path, form, "--method", method, "--seed", "5")
    fleet = tc.Fleet(method, seed=5)
    q = Q if form == "quantiles" else [(rank + 0.5) / len(Q) for rank in range(len(Q))]
    run = fleet.run(keys, batch, y, q=q, mean=True, std=True)
    check(run, form, answered, rows(form)[1])
    assert fleet.to_bytes() == state
    # And the command's state goes on in Python as Python's own does.
    loaded = tc.Fleet.from_bytes(state)
    assert loaded.keys == fleet.keys and loaded.to_bytes() == state
    again = fleet.run(keys, batch, y, q=0.3)
    from_state = loaded.run(keys, batch, y, q=0.3)
    assert again.quantiles is not None and from_state.quantiles is not None
    assert again.quantiles.tolist() == from_state.quantiles.tolist()


@pytest.mark.parametrize(
    ("flags", "keywords"),
    [
        (["--guard", "off"], {"guard": "off"}),
        (["--no-lags", "--guard", "strict"], {"lags": False, "guard": "strict"}),
        (["--half-life", "120"], {"half_life": 120.0}),
        (["--prior", "3", "--threshold", "50"], {"prior": 3.0, "thresholds": [50.0]}),
        (["--randomised"], {"randomised": True}),
    ],
)
def test_settings_are_those_of_the_command(truecast: str, tmp_path: Path, flags: list[str], keywords: dict[str, Any]) -> None:
    batch, y, _, answered, state = calibrate(truecast, tmp_path, "gaussian", *flags, keyed=False)
    rc = tc.Recalibrator(**keywords)
    run = rc.run(batch, y, mean=True, std=True)
    check(run, "gaussian", answered, rows("gaussian")[1])
    # One series without a key; its recalibrator's bytes are inside of the fleet's state.
    fleet = tc.Fleet.from_bytes(state)
    assert fleet.keys == [""]
    assert fleet.recalibrator("").to_bytes() == rc.to_bytes()
    assert rc.to_bytes() in state


def test_the_loop_is_the_command(truecast: str, tmp_path: Path) -> None:
    batch, y, _, answered, _ = calibrate(truecast, tmp_path, "gaussian", keyed=False)
    rc, stream = tc.Recalibrator(), tc.Stream()
    for row, (forecast, outcome) in enumerate(zip(batch, y.tolist(), strict=True)):
        calibrated = rc.recalibrate(forecast)
        assert [calibrated.mean(), calibrated.std()] == answered[row].tolist()
        ticket, issued = stream.issue(forecast)
        assert issued == calibrated
        rc.observe(forecast, outcome)
        stream.resolve(ticket, outcome)
