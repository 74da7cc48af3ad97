"""How forecasts were met, before and after calibration, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from importlib import import_module
from typing import Any

from .certificates import Certificate, LedgerCertificate


@dataclass(frozen=True)
class Sides:
    """A number before and after calibration; None where nothing was measured.

    Attributes
    ----------
    raw : float or None
        Of the forecasts as they came in.
    calibrated : float or None
        Of the calibrated forecasts.
    """

    raw: float | None
    calibrated: float | None


@dataclass(frozen=True)
class CrpsSides(Sides):
    """The mean CRPS before and after calibration.

    Attributes
    ----------
    regret_percent : float or None
        How much larger the calibrated mean is, in percent: negative if calibration made forecasts more accurate.
    """

    regret_percent: float | None


@dataclass(frozen=True)
class Summary:
    """The numbers of `truecast evaluate --summary`, with the names of docs/summary.schema.json.

    Attributes
    ----------
    rows : int
        Forecasts with an outcome: what every other number is measured on.
    coverage : dict of str to Sides
        Share of outcomes inside the central intervals, by the share that they should hold (``"0.8"``).
    crps : CrpsSides
        Mean CRPS, in the units of the outcome: smaller is better.
    calibration_score : Sides
        Sum over levels of the squared distance between the share of outcomes below a quantile and its probability: 0 is perfect.
    width : dict of str to Sides
        Sharpness: mean width of the central intervals, by the share that they should hold.
    pit_distance : Sides
        The share of outcomes that would have to move for the PIT histogram to be flat.
    certificate : Certificate or None
        What is guaranteed on this very stream; None for forecasts as they are and for methods without one.
    """

    rows: int
    coverage: Mapping[str, Sides]
    crps: CrpsSides
    calibration_score: Sides
    width: Mapping[str, Sides]
    pit_distance: Sides
    certificate: Certificate | None = None

    @classmethod
    def _of(cls, numbers: dict[str, Any]) -> Summary:
        return cls(
            rows=numbers["rows"],
            coverage={level: Sides(*sides) for level, sides in numbers["coverage"].items()},
            crps=CrpsSides(*numbers["crps"]),
            calibration_score=Sides(*numbers["calibration_score"]),
            width={level: Sides(*sides) for level, sides in numbers["width"].items()},
            pit_distance=Sides(*numbers["pit_distance"]),
            certificate=numbers["certificate"],
        )

    def to_dict(self) -> dict[str, Any]:
        """What the command writes as JSON, for docs/summary.schema.json."""

        def sides(of: Sides) -> dict[str, float | None]:
            return {"raw": of.raw, "calibrated": of.calibrated}

        return {
            "rows": self.rows,
            "coverage": {level: sides(shares) for level, shares in self.coverage.items()},
            "crps": {**sides(self.crps), "regret_percent": self.crps.regret_percent},
            "calibration_score": sides(self.calibration_score),
            "certificate": None if self.certificate is None else _certificate(self.certificate),
        }

    def _lines(self) -> Iterator[tuple[str, list[str]]]:
        """The rows of the table: a name, then each side."""

        def both(sides: Sides, pattern: str) -> list[str]:
            measured = (sides.raw,) if self.crps.calibrated is None else (sides.raw, sides.calibrated)
            return ["-" if value is None else format(value, pattern) for value in measured]

        for level, shares in self.coverage.items():
            yield f"{100 * float(level):g} % interval covers", both(shares, ".1%")
        for level, widths in self.width.items():
            yield f"{100 * float(level):g} % mean width", both(widths, ".5g")
        yield "CRPS", both(self.crps, ".6g")
        yield "calibration score", both(self.calibration_score, ".6f")
        yield "PIT off uniform", both(self.pit_distance, ".1%")

    def __str__(self) -> str:
        head = ["as they are"] if self.crps.calibrated is None else ["raw", "calibrated"]
        lines = [f"{f'{self.rows} outcomes':<24}" + "".join(f"{side:>13}" for side in head)]
        lines += [f"{name:<24}" + "".join(f"{value:>13}" for value in values) for name, values in self._lines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ["as they are"] if self.crps.calibrated is None else ["raw", "calibrated"]
        return _html(f"{self.rows} outcomes", ["", *head], [[name, *values] for name, values in self._lines()])


def _certificate(certificate: Certificate) -> dict[str, Any]:
    def kind(ledger: LedgerCertificate) -> Any:
        if ledger.group is not None:
            return {"group": ledger.group}
        return ledger.ledger if ledger.threshold is None else {"threshold": ledger.threshold}

    names = ("calibration_error", "calibration_bound", "regret", "regret_bound")
    stop_loss = None if certificate.stop_loss is None else asdict(certificate.stop_loss)
    if stop_loss is not None:
        stop_loss["furthest"] = dict(zip(("step", "behind", "base"), stop_loss["furthest"], strict=True))
    guard = None if certificate.guard is None else asdict(certificate.guard)
    if guard is not None:
        guard["intervals"] = list(guard["intervals"])
    ledgers = certificate.ledgers
    return {
        "holds": certificate.holds,
        "words": list(certificate.words),
        "stop_loss": stop_loss,
        "guard": guard,
        "ledgers": None
        if ledgers is None
        else {
            "steps": ledgers.steps,
            "potential": ledgers.potential,
            "potential_bound": ledgers.potential_bound,
            "ledgers": [
                {"kind": kind(ledger), **{name: getattr(ledger, name) for name in names}} for ledger in ledgers.ledgers
            ],
        },
    }


def _html(caption: str, head: list[str], rows: list[list[str]]) -> str:
    header = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{header}</tr>{body}</table>"


_SHOWN = ("0.5", "0.8", "0.95", "0.98")


class Comparison(Mapping[str, Summary]):
    """Summaries by method, all on the same rows.

    Examples
    --------
    >>> import truecast as tc
    >>> table = tc.compare({"mean": [0.0, 1.0], "std": [1.0, 1.0], "y": [0.5, 3.0]}, methods=["ledger", "aci"])
    >>> list(table), table["aci"].rows
    (['ledger', 'aci'], 2)
    """

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        self._summaries = dict(summaries)

    def __getitem__(self, method: str) -> Summary:
        return self._summaries[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self._summaries)

    def __len__(self) -> int:
        return len(self._summaries)

    def columns(self) -> dict[str, list[Any]]:
        """The table by columns: a row for the forecasts as they are, then one for each method."""
        first = next(iter(self.values()))
        table: dict[str, list[Any]] = {"method": ["(as they are)", *self]}
        for level in first.coverage:
            calibrated = [summary.coverage[level].calibrated for summary in self.values()]
            table[f"coverage_{level}"] = [first.coverage[level].raw, *calibrated]
        table["crps"] = [first.crps.raw, *(summary.crps.calibrated for summary in self.values())]
        table["crps_change_percent"] = [None, *(summary.crps.regret_percent for summary in self.values())]
        table["calibration_score"] = [first.calibration_score.raw, *(summary.calibration_score.calibrated for summary in self.values())]
        return table

    def to_frame(self) -> Any:
        """The table as a pandas frame, with the methods as its index; pandas must be there."""
        return import_module("pandas").DataFrame(self.columns()).set_index("method")

    def to_dict(self) -> dict[str, Any]:
        """What `truecast compare --summary` writes as JSON."""
        return {method: summary.to_dict() for method, summary in self.items()}

    def _rows(self) -> list[list[str]]:
        table = self.columns()
        rows = []
        for at, method in enumerate(table["method"]):
            change = table["crps_change_percent"][at]
            shares = [table[f"coverage_{level}"][at] for level in _SHOWN]
            cells = ["-" if share is None else f"{share:.1%}" for share in shares]
            score = table["calibration_score"][at]
            rows.append([method, *cells, f"{table['crps'][at]:.6f}", "" if change is None else f"{change:+.2f}%", f"{score:.5f}"])
        return rows

    _HEAD = ("method", "50 %", "80 %", "95 %", "98 %", "CRPS", "change", "score")

    def __str__(self) -> str:
        widths = (17, 9, 9, 9, 9, 13, 10, 11)
        lines = [f"{next(iter(self.values())).rows} outcomes; share of them in the interval, CRPS, calibration score"]
        for row in [list(self._HEAD), *self._rows()]:
            lines.append(f"{row[0]:<17}" + "".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self)})"

    def _repr_html_(self) -> str:
        return _html(f"{next(iter(self.values())).rows} outcomes", list(self._HEAD), self._rows())
