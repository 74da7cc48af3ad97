"""Every example in a docstring of the modules that stand on other libraries, and that none of them is imported unasked."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

MODULES = ("nixtla", "plot", "river", "sklearn", "skpro", "sktime")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    failures, tries = doctest.testmod(importlib.import_module(f"truecast.{name}"), optionflags=doctest.ELLIPSIS)
    assert failures == 0 and tries > 0


def test_nothing_is_imported_before_it_is_needed() -> None:
    foreign = ("matplotlib", "pandas", "river", "sklearn", "skpro", "sktime")
    code = f"import sys, truecast; assert not set({foreign}) & set(sys.modules), sorted(set({foreign}) & set(sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True)
