"""What a batch answers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Arrays about the calibrated forecasts of a batch, a row for each; those that were not asked for are None.

    Attributes
    ----------
    rows : int
        How many forecasts there were.
    lower, upper : ndarray
        Ends of the central intervals: one dimension for one `coverage`, a column for each of several.
    quantiles : ndarray
        At `q`, shaped in the same way.
    mean, std : ndarray
    pit : ndarray
        Probability integral transforms of the outcomes, uniform if the forecasts are calibrated; NaN without an outcome.
    crps : ndarray
        Scores of the outcomes; NaN without an outcome.
    """

    rows: int
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    quantiles: NDArray[np.float64] | None = None
    mean: NDArray[np.float64] | None = None
    std: NDArray[np.float64] | None = None
    pit: NDArray[np.float64] | None = None
    crps: NDArray[np.float64] | None = None

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The arrays that were asked for, by name.

        >>> import truecast as tc
        >>> run = tc.Recalibrator().run([tc.Gaussian(0.0, 1.0)], [0.5], coverage=0.8, pit=True)
        >>> sorted(run.columns())
        ['lower', 'pit', 'upper']
        """
        found = ((f.name, getattr(self, f.name)) for f in fields(self) if f.name != "rows")
        return {name: values for name, values in found if values is not None}

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        shapes = (f"{name}{list(values.shape)}" for name, values in self.columns().items())
        return f"Run({', '.join((f'{self.rows} rows', *shapes))})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"
