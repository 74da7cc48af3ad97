"""Every example in a docstring, native ones included, and the README's."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import truecast
from truecast import certificates, errors, frames, optimise, results, scores, spaces, summaries, tables

README = Path(__file__).parents[2] / "README.md"


def docstrings() -> Iterator[tuple[str, str]]:
    for module in (truecast, certificates, errors, frames, optimise, results, scores, spaces, summaries, tables):
        yield module.__name__, module.__doc__ or ""
        for name in vars(module):
            thing = getattr(module, name)
            if name.startswith("_") or getattr(thing, "__module__", None) not in (module.__name__, "truecast", "truecast._core", None):
                continue
            yield f"{module.__name__}.{name}", getattr(thing, "__doc__", None) or ""
            if isinstance(thing, type):
                for member, value in vars(thing).items():
                    yield f"{module.__name__}.{name}.{member}", getattr(value, "__doc__", None) or ""


EXAMPLES = {name: text for name, text in docstrings() if ">>>" in text}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_docstring(name: str) -> None:
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example, out=report.append)
    assert runner.failures == 0 and runner.tries > 0, "".join(report)


def test_there_are_examples() -> None:
    assert {"truecast", "truecast.Recalibrator", "truecast.Stream", "truecast.Fleet", "truecast.Distribution"} <= set(EXAMPLES)
    assert {"truecast.Space", "truecast.Study", "truecast.optimise.minimize"} <= set(EXAMPLES)


def test_the_readme() -> None:
    examples = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
