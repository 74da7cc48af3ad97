"""Why a call was refused.

Every class stands for one error of the Rust library, and its message holds the value and the rule that it broke. The parts of the
message are attributes too: ``except tc.errors.NotPositiveError as e: e.value``. In batches, ``e.row`` is the row.

All of them are `TruecastError`, which is a `ValueError`. Arguments of a wrong type are a plain `TypeError`.
"""

from __future__ import annotations

from typing import Any


class TruecastError(ValueError):
    """Anything that Truecast refuses."""

    row: int
    """The row of a batch in which it happened, counted from 0; absent elsewhere."""
    column: str
    """The column of a frame that is at fault; absent elsewhere."""


class InvalidInputError(TruecastError):
    """A number or a list breaks a rule."""


class NotFiniteError(InvalidInputError):
    """A number that must be finite is NaN or infinite."""

    what: str
    value: float


class NotPositiveError(InvalidInputError):
    """A number that must be greater than zero is not."""

    what: str
    value: float


class OutOfRangeError(InvalidInputError):
    """A number is outside of the range that it must lie in."""

    what: str
    rule: str
    value: float


class TooFewError(InvalidInputError):
    """A list that needs entries has too few."""

    what: str
    least: int
    found: int


class LengthMismatchError(InvalidInputError):
    """Two lists that go together differ in length."""

    what: str
    left: int
    right: int


class NotIncreasingError(InvalidInputError):
    """A list that must increase does not."""

    what: str
    index: int
    previous: float
    value: float


class CrossingQuantilesError(InvalidInputError):
    """Quantiles cross, and the caller asked for them to be refused."""

    probability: float
    previous: float
    value: float


class UnknownGroupError(InvalidInputError):
    """A group number is not among those the recalibrator was built with."""

    group: int
    count: int


class WidthOutOfRangeError(InvalidInputError):
    """A forecast is so wide or so narrow that its squared widths leave the range of a float."""

    level: int
    width: float


class NoDensityError(InvalidInputError):
    """A density is asked for and the forecast has none."""

    outcome: float


class NoExpectationError(InvalidInputError):
    """An expected value is infinite."""

    what: str


class ForeignPlanError(InvalidInputError):
    """A plan was settled with another recalibrator than the one that made it."""

    expected: int
    found: int


class ColumnsError(InvalidInputError):
    """The columns of a frame are not known, not there, or can be read in several ways."""

    problem: str
    hint: str


class CellError(InvalidInputError):
    """A cell of a frame holds something else than it should."""

    value: Any


class NotANumberError(CellError):
    """A cell that should hold a number does not."""


class NotATimeError(CellError):
    """A cell that should hold a time does not."""


class NotAProbabilityError(CellError):
    """A cell that should hold a quantile's probability does not."""


class SecondOutcomeError(InvalidInputError):
    """There are two outcomes that differ for the same forecast."""


class NoForecastError(InvalidInputError):
    """A row without a forecast: it may lack an outcome, not a forecast."""


class NoOutcomesError(TruecastError):
    """No row has an outcome, so there is nothing to score."""


class TicketError(TruecastError):
    """A ticket, not a number, is at fault."""

    ticket: int


class UnknownTicketError(TicketError):
    """The stream never gave out this ticket."""


class ClosedTicketError(TicketError):
    """The ticket was resolved or expired before."""


class SettingError(TruecastError):
    """Settings do not go together, or do not exist."""


class UnknownMethodError(SettingError):
    """No method has this name."""

    name: str


class UnknownExpertError(SettingError):
    """No expert has this name."""

    name: str


class UnknownGuardError(SettingError):
    """No guard has this name."""

    name: str


class NotASettingError(SettingError):
    """A setting that the method does not have, or that its preset fixes."""

    setting: str
    of: str


class OtherSettingsError(SettingError):
    """A saved state was made with other settings."""

    saved: str
    asked: str


class NoCertificateError(TruecastError):
    """The method promises nothing that can be certified."""

    method: str


class TooManyGroupsError(TruecastError):
    """A series has more groups than ledgers were set up for."""

    label: str
    count: int


class NoTimeError(TruecastError):
    """A row without the time that late outcomes need."""


class BackwardsError(TruecastError):
    """Times that run backwards within a series."""

    now: float
    last: float


class RefusedRowsError(TruecastError):
    """A fleet refused some rows of a batch, and took the others.

    ``refused`` has the rows with the exception of each; ``result`` has the answers of `Fleet.run`, NaN in the rows that were refused.
    """

    refused: tuple[tuple[int, Exception], ...]
    result: Any = None


class SnapshotError(TruecastError):
    """A saved state could not be loaded."""


class BadMagicError(SnapshotError):
    """The bytes are not a Truecast state of this kind."""


class UnsupportedVersionError(SnapshotError):
    """The state was written by a newer version."""

    found: int
    newest: int


class WrongLengthError(SnapshotError):
    """The state ends early, or has bytes behind its end."""

    expected: int
    found: int


class WrongChecksumError(SnapshotError):
    """The bytes are damaged."""

    expected: int
    found: int


class MalformedError(SnapshotError):
    """The state is not of the form that its version has."""

    reason: str


class InvalidStateError(SnapshotError):
    """The state decodes, and a value in it breaks a rule."""

    field: str
    rule: str


class DimensionError(InvalidInputError):
    """A dimension of a space breaks its rule."""

    name: str
    rule: str
    found: str


class SpaceError(InvalidInputError):
    """A space has no dimensions, or none of its points can be suggested."""

    rule: str
    found: str


class PointNamesError(InvalidInputError):
    """A point whose names are not those of its space."""

    missing: tuple[str, ...]
    unknown: tuple[str, ...]


class PointValueError(InvalidInputError):
    """A value of a point does not belong to its dimension."""

    name: str
    rule: str
    found: str


class OutcomeError(InvalidInputError):
    """An outcome that cannot be learned: not finite, or beyond 1e100."""

    value: float


class UnknownNameError(SettingError):
    """No option has this name."""

    name: str
    known: str


class UnusedSettingError(SettingError):
    """A setting of something that was not chosen."""

    setting: str
    chosen: str


class NoOutcomeError(TruecastError):
    """The best of a study is asked for and no trial has an outcome."""


class SkippedRowsWarning(UserWarning):
    """Rows broke a rule and were left out, as ``on_error="skip"`` asks."""

    count: int
    """How many rows, or forecasts over several rows, broke one."""
    refused: tuple[tuple[int, Exception], ...]
    """The row of each, and the exception that it would have raised."""
