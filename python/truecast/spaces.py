"""Dimensions of a `Space`: what is searched. Rules are checked when they become a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    """Real numbers from `low` to `high`, both included.

    Attributes
    ----------
    low, high : float
    log : bool
        Equal ratios are equally far apart: for numbers whose order of magnitude is unknown.
    """

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Integer:
    """Whole numbers from `low` to `high`, both included.

    Attributes
    ----------
    low, high : int
    log : bool
        Equal ratios are equally far apart.
    """

    low: int
    high: int
    log: bool = False


@dataclass(frozen=True)
class Choice:
    """One of several names, none nearer to another than the rest.

    Attributes
    ----------
    options : sequence of str
        The names, all different; they are kept as a tuple.
    """

    options: Sequence[str]

    def __post_init__(self) -> None:
        # A string is a sequence of strings too, and never what is meant.
        if not isinstance(self.options, str):
            object.__setattr__(self, "options", tuple(self.options))
