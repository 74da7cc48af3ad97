"""What several tests stand on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import truecast as tc

ROOT = Path(__file__).parents[2]
METHODS = (
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
)


@pytest.fixture(scope="session")
def truecast() -> str:
    """The command, built if need be."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "debug" / "truecast"
    if shutil.which("cargo") is not None:
        subprocess.run(["cargo", "build", "--quiet", "-p", "truecast-cli"], cwd=ROOT, check=True)
    assert binary.exists(), f"{binary} is not there, and there is no cargo to build it"
    return str(binary)


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """Each method by its name."""
    return str(request.param)


@pytest.fixture
def series() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Means, standard deviations that are half too small, outcomes."""
    rng = np.random.default_rng(20261116)
    mu, sigma = rng.normal(0.0, 3.0, 400), rng.uniform(0.5, 2.0, 400)
    return mu, sigma, mu + 2.0 * sigma * rng.standard_normal(400)


KINDS: tuple[tc.Distribution, ...] = (
    tc.Gaussian(1.5, 2.0),
    tc.StudentT(4.0, -1.0, 0.5),
    tc.Laplace(0.3, 1.2),
    tc.Logistic(-2.0, 0.7),
    tc.LogNormal(0.2, 0.4),
    tc.Uniform(-1.0, 3.0),
    tc.Quantiles([0.1, 0.5, 0.9], [-1.0, 0.0, 2.0]),
    tc.Quantiles([0.1, 0.5, 0.9], [0.0, 0.0, 2.0], support=(0.0, float("inf"))),
    tc.Samples([3.0, 1.0, 2.0, 2.5, 2.0]),
    tc.CDF([0.0, 1.0, 4.0], [0.0, 0.6, 1.0]),
    tc.Mixture([1.0, 3.0], [tc.Gaussian(0.0, 1.0), tc.Laplace(2.0, 0.5)]),
)


def _recalibrated() -> tc.Recalibrated:
    rc = tc.Recalibrator()
    for y in (1.0, -2.0, 4.0, 0.5):
        rc.observe(tc.Gaussian(0.0, 1.0), y)
    return rc.recalibrate(tc.Gaussian(0.5, 1.0))


@pytest.fixture(params=[*KINDS, _recalibrated()], ids=repr)
def kind(request: pytest.FixtureRequest) -> tc.Distribution:
    """A distribution of each kind, and a recalibrated one."""
    assert isinstance(request.param, tc.Distribution)
    return request.param
