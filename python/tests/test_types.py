"""The stubs say what is there, and these tests are typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import truecast
from truecast import _core

ROOT = Path(__file__).parents[2]


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_and_runtime_agree() -> None:
    run("mypy.stubtest", "truecast", "--concise")


def test_mypy_is_content_with_package_and_tests() -> None:
    run("mypy", "--strict", "python/truecast", "python/tests")


def test_the_methods_are_documented_and_typed() -> None:
    stub = (Path(truecast.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    for method in _core._METHODS:
        assert f"``{method}``" in (truecast.Recalibrator.__doc__ or ""), method
        assert f'    "{method}",' in stub, method


def test_everything_public_is_documented() -> None:
    for name in truecast.__all__:
        thing = getattr(truecast, name)
        assert thing.__doc__, name
        if isinstance(thing, type) and thing.__module__ == "truecast":
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    assert value.__doc__, f"{name}.{member}"
    for name in vars(_core):
        assert name.startswith("_") or name in truecast.__all__ or name in truecast.scores.__all__, name
