"""The certificate: what was promised, what was kept, and what the worst could be."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


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
    announced_regret : float or None
        With memory or trust, a bound on the regret of what was announced, before the guard.
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
    announced_regret: float | None = None
    group: int | None = None
    threshold: float | None = None


@dataclass(frozen=True)
class Certificate:
    """Measured errors and regret of every ledger with their bounds, read from the state; they hold on every stream.

    Attributes
    ----------
    steps : int
        Outcomes settled.
    potential, potential_bound : float
        Squared balances over squared weights, summed over ledgers and levels, and what they are bounded by.
    ledgers : tuple of LedgerCertificate
    holds : bool
        True if every measured number is within its bound: anything else is a defect, not bad luck.

    Examples
    --------
    >>> import truecast as tc
    >>> rc = tc.Recalibrator()
    >>> rc.observe(tc.Gaussian(0.0, 1.0), 1.0)
    >>> certificate = rc.certificate()
    >>> certificate.holds, [ledger.ledger for ledger in certificate.ledgers]
    (True, ['uniform', 'crps'])
    """

    steps: int
    potential: float
    potential_bound: float
    ledgers: tuple[LedgerCertificate, ...]
    holds: bool

    def __str__(self) -> str:
        lines = [
            f"after {self.steps} outcomes: potential {self.potential:.2f}, at most {self.potential_bound:.2f}",
            f"{'ledger':<16}{'calibration error':>20}{'at most':>10}{'regret':>16}{'at most':>14}{'as announced':>16}",
        ]
        for ledger in self.ledgers:
            announced = "the same" if ledger.announced_regret is None else f"{ledger.announced_regret:+.3f}"
            lines.append(
                f"{ledger.ledger:<16}{ledger.calibration_error:>20.4f}{ledger.calibration_bound:>10.4f}"
                f"{ledger.regret:>+16.3f}{ledger.regret_bound:>+14.3f}{announced:>16}"
            )
        return "\n".join(lines)

    def _repr_html_(self, caption: str | None = None) -> str:
        title = escape(caption) if caption else f"after {self.steps} outcomes"
        head = ("ledger", "calibration error", "at most", "regret", "at most", "as announced")
        rows = []
        for ledger in self.ledgers:
            announced = "the same" if ledger.announced_regret is None else f"{ledger.announced_regret:+.3f}"
            rows.append(
                (
                    escape(ledger.ledger),
                    f"{ledger.calibration_error:.4f}",
                    f"{ledger.calibration_bound:.4f}",
                    f"{ledger.regret:+.3f}",
                    f"{ledger.regret_bound:+.3f}",
                    announced,
                )
            )
        header = "".join(f"<th>{name}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><caption><code>{title}</code></caption><tr>{header}</tr>{body}</table>"
