"""The cases that the command and the package run alike: crates/truecast-events/tests/cases."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import truecast as tc

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "crates/truecast-events/tests/cases/times.json").read_text())
FORECAST = re.compile(r"mean|std|value|yhat(_lower|_upper)?|(y_)?q[\d.]+")


def columns_of(text: str) -> dict[str, Any]:
    """Columns of numbers where all cells are such and none begins with a needless 0, or else of texts."""
    head, *rows = csv.reader(io.StringIO(text))
    columns: dict[str, Any] = {}
    for at, name in enumerate(head):
        cells = [row[at] for row in rows]
        are_numbers = all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", cell) for cell in cells)
        columns[name] = [float(cell) if "." in cell or name != "key" else int(cell) for cell in cells] if are_numbers else cells
    return columns


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_of_times_and_outcomes(case: dict[str, Any], kind: Any) -> None:
    table = columns_of(case["table"])
    asked = dict(case["asked"])
    if "outcomes" in case:
        asked["outcomes"] = kind(columns_of(case["outcomes"]))
    if "error" in case:
        with pytest.raises(tc.TruecastError) as caught:
            tc.calibrate(kind(table), **asked)
        for word in case["error"]:
            assert word in str(caught.value), str(caught.value)
        return
    after = tc.calibrate(kind(table), **asked)

    def moved(row: int) -> bool:
        names = [name for name in table if FORECAST.fullmatch(name)]
        return any(abs(float(table[name][row]) - float(np.asarray(after[name])[row])) > 1e-9 * max(1.0, abs(float(table[name][row]))) for name in names)

    assert [row for row in case.get("same", []) if moved(row)] == []
    assert [row for row in case.get("other", []) if not moved(row)] == []
