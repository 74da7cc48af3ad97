"""Truecast lives in the main interpreter of a process."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _current_and_main() -> tuple[Any, Any] | None:
    """The numbers of this interpreter and of the main one, where Python says them."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # from 3.13 on, and before
        try:
            module = import_module(name)
        except ImportError:
            continue
        # From 3.13 on a number comes with how it was made.
        current, main = ((each[0] if isinstance(each, tuple) else each) for each in (module.get_current(), module.get_main()))
        return current, main
    return None


def refuse_all_but_main() -> None:
    """Raises ImportError in a sub-interpreter.

    The native part and NumPy keep objects for the whole process, which must not pass from one interpreter to another. Without this, which of two interpreters
    can import them would depend on which comes first, and the message would be NumPy's.
    """
    found = _current_and_main()
    if found is not None and found[0] != found[1]:
        raise ImportError("truecast cannot be imported in a sub-interpreter: use threads, for which it lets go of the interpreter lock, or processes")
