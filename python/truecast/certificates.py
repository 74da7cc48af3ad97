"""The certificate: what is promised, the bound, what was measured, and how close it came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class StopLossCertificate:
    """Never behind the forecaster by more than a hair: ``extra + reserved`` is at most ``bound``.

    Attributes
    ----------
    outcomes, pending, announced, held_back : int
        Outcomes that are known, forecasts that wait, forecasts announced, and those that the stop-loss held back.
    share : float
        The share of the forecaster's score that may be lost.
    base : float
        Sum of the forecaster's scores: CRPS of normal forecasts, twice the mean pinball loss of quantiles.
    extra : float
        Sum of the announced forecasts' scores less the forecaster's: negative where they are ahead.
    reserved : float
        What the forecasts that wait can lose at most.
    bound, lead : float
        What ``extra + reserved`` never exceeds, and the largest lead so far, of which half at most is given back.
    furthest : tuple of (int, float, float)
        When the forecaster was furthest ahead: after so many outcomes, by how much, and its own sum then.
    series : int
        Over how many series this is.
    """

    outcomes: int
    share: float
    base: float
    extra: float
    reserved: float
    pending: int
    bound: float
    lead: float
    furthest: tuple[int, float, float]
    announced: int
    held_back: int
    series: int


@dataclass(frozen=True)
class IntervalCertificate:
    """One guarded interval: the share it should cover, the share it covered, and how far apart the two may be."""

    nominal: float
    covered: float | None
    allowed: float | None


@dataclass(frozen=True)
class GuardCertificate:
    """Coverage within a budget: promised while ``held_back`` is 0, measured otherwise.

    Attributes
    ----------
    outcomes : int
    mode : str
        What the guard may cost: ``priced`` or ``strict``.
    held_back : int
        Forecasts on which the stop-loss held the guard back.
    intervals : tuple of IntervalCertificate
    """

    outcomes: int
    mode: str
    held_back: int
    intervals: tuple[IntervalCertificate, ...]


@dataclass(frozen=True)
class LedgerCertificate:
    """What one ledger owes.

    Attributes
    ----------
    ledger : str
        Which promise it is: ``uniform`` (the PIT is calibrated), ``crps`` (no regret in CRPS), ``group k`` or ``threshold y``.
    calibration_error, calibration_bound : float
        The largest calibration error of any level, as a share of the ledger's weight, and what it is bounded by.
    regret, regret_bound : float
        Weighted squared error of the plays minus that of the forecaster, summed over steps and levels, and what it is bounded by.
    group : int or None
        The group of a group ledger.
    threshold : float or None
        The outcome of a threshold ledger.
    """

    ledger: str
    calibration_error: float
    calibration_bound: float
    regret: float
    regret_bound: float
    group: int | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class LedgersCertificate:
    """What the ledgers owe in their own plays, before they are mixed with other experts.

    Attributes
    ----------
    steps : int
    potential, potential_bound : float
        Squared balances over squared weights, summed over ledgers and levels, and what they are bounded by.
    ledgers : tuple of LedgerCertificate
    """

    steps: int
    potential: float
    potential_bound: float
    ledgers: tuple[LedgerCertificate, ...]


@dataclass(frozen=True)
class Certificate:
    """What is promised on every stream, with what was measured on this one; ``str`` has a line for each promise.

    Attributes
    ----------
    stop_loss : StopLossCertificate or None
    guard : GuardCertificate or None
    ledgers : LedgersCertificate or None
    holds : bool
        True if every measured number that is promised is within its bound: anything else is a defect, not bad luck.
    words : tuple of str

    Examples
    --------
    >>> import truecast as tc
    >>> rc = tc.Recalibrator()
    >>> rc.observe(tc.Gaussian(0.0, 1.0), 1.0)
    >>> certificate = rc.certificate()
    >>> certificate.holds, [ledger.ledger for ledger in certificate.ledgers.ledgers]
    (True, ['uniform', 'crps'])
    """

    stop_loss: StopLossCertificate | None
    guard: GuardCertificate | None
    ledgers: LedgersCertificate | None
    holds: bool
    words: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.words)

    def _repr_html_(self, caption: str | None = None) -> str:
        lines = "".join(f"<li><pre>{escape(line)}</pre></li>" for line in self.words)
        title = f"<p><code>{escape(caption)}</code></p>" if caption else ""
        return f"{title}<ul>{lines}</ul>"


def from_json(text: str, words: list[str], holds: bool) -> Certificate:
    """The dataclass of what the native part says."""
    parts = json.loads(text)
    stop_loss, guard, ledgers = parts["stop_loss"], parts["guard"], parts["ledgers"]
    if stop_loss is not None:
        furthest = stop_loss["furthest"]
        stop_loss["furthest"] = (furthest["step"], furthest["behind"], furthest["base"])
    if guard is not None:
        guard["intervals"] = tuple(IntervalCertificate(**interval) for interval in guard["intervals"])
    if ledgers is not None:
        ledgers["ledgers"] = tuple(_ledger(ledger) for ledger in ledgers["ledgers"])
    return Certificate(
        stop_loss and StopLossCertificate(**stop_loss),
        guard and GuardCertificate(**guard),
        ledgers and LedgersCertificate(**ledgers),
        holds,
        tuple(words),
    )


def _ledger(ledger: dict[str, Any]) -> LedgerCertificate:
    kind = ledger.pop("kind")
    if isinstance(kind, str):
        return LedgerCertificate(kind, **ledger)
    [(name, value)] = kind.items()
    return LedgerCertificate(f"{name} {value}", **ledger, **{name: value})
