"""Frames of every kind as columns: what is read of them, and how one of the same kind is made.

Each kind is one class. The libraries are never imported for their own sake: a pandas frame can only be there if pandas is.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from importlib import import_module
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors
from ._core import _Frame

Numbers: TypeAlias = NDArray[np.float64]
# For each row which of the texts, -1 for none.
Coded: TypeAlias = tuple[NDArray[np.int64], list[str]]

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class Table(ABC):
    """A frame of some kind.

    Attributes
    ----------
    names : list of str
        The frame's columns in their order, then what stands beside them: named levels of an index, or outcomes that came by themselves.
    width : int
        How many of them are columns of the frame.
    rows : int
    chosen : bool
        True if the names say already which model is meant: those of the other models say nothing.
    """

    names: list[str]
    width: int
    rows: int
    chosen: bool = False

    def __init__(self, names: list[str], rows: int) -> None:
        self.names, self.width, self.rows = names, len(names), rows
        self._beside: dict[int, Any] = {}
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise columns_error(f"two columns are called {twice[0]}", "give each a name of its own")

    def beside(self, name: str, values: Any) -> str:
        """Puts a column beside the frame's own, under a name that is free."""
        while name in self.names:
            name += "_given"
        self._beside[len(self.names)] = values
        self.names.append(name)
        return name

    @abstractmethod
    def array(self, column: int) -> NDArray[Any]:
        """A column as NumPy has it, without a copy where the frame's kind allows."""

    @abstractmethod
    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        """A frame of the same kind with other numbers in some columns, without others, and with more at its end."""

    def _values(self, column: int) -> NDArray[Any]:
        if column in self._beside:
            return _as_array(self._beside[column])
        return self.array(column)

    @abstractmethod
    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        """The rows of a frame of this kind that are kept."""

    def numbers(self, column: int) -> Numbers | None:
        """A column of numbers, NaN where one is missing; None if it has another type."""
        values = self._values(column)
        return _aligned(values) if values.dtype.kind in "iuf" else None

    def labels(self, column: int) -> Coded:
        """A column of texts: whole numbers by their digits, dates as ISO 8601 writes them."""
        index: dict[str, int] = {}
        known: dict[Any, int] = {}
        codes = np.empty(self.rows, dtype=np.int64)
        for row, value in enumerate(self._values(column).tolist()):
            code = known.get(value)
            if code is None:
                code = -1 if _is_missing(value) else index.setdefault(text(value), len(index))
                known[value] = code
            codes[row] = code
        return codes, list(index)

    def times(self, column: int) -> Numbers | None:
        """A column of dates or instants in seconds, NaN where one is missing; None if it has another type."""
        values = self._values(column)
        if values.dtype.kind != "M":
            return None
        unit = np.datetime_data(values.dtype)[0]
        if unit not in _PER_SECOND:
            values, unit = values.astype("datetime64[s]"), "s"
        seconds = values.view(np.int64) / float(_PER_SECOND[unit])
        seconds[np.isnat(values)] = np.nan
        return np.asarray(seconds, dtype=np.float64)

    def read(self, numbers: Collection[int], times: Collection[int], texts: Collection[int]) -> _Frame:
        """These columns, in the forms that are asked for; what is no number or time is a text."""
        columns = []
        for column in sorted({*numbers, *times, *texts}):
            as_number = self.numbers(column)
            as_time = self.times(column) if column in times else None
            is_text = column in texts or (as_number is None and as_time is None)
            columns.append((column, as_number, as_time, self.labels(column) if is_text else None))
        return _Frame(self.rows, columns)

    def all(self) -> _Frame:
        """Every column, in every form that it has."""
        every = range(len(self.names))
        return self.read(every, every, every)


def columns_error(problem: str, hint: str) -> errors.ColumnsError:
    """The exception for columns that do not say what is what."""
    error = errors.ColumnsError(f"{problem}\nhint: {hint}")
    error.problem, error.hint = problem, hint
    return error


def _as_array(values: Any) -> NDArray[Any]:
    """NumPy would make texts of a list in which one entry is a text."""
    array = np.asarray(values)
    return np.array(list(values), dtype=object) if array.dtype.kind in "US" and not isinstance(values, np.ndarray) else array


def _aligned(values: NDArray[Any]) -> Numbers:
    """Numbers without a copy, but for those of an array with fields that stand between addresses a processor reads at."""
    return np.require(values.astype(np.float64, copy=False), requirements="A")


def _is_missing(value: Any) -> bool:
    # NaN, NaT and pandas' NA are not equal to themselves, or will not say.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def text(value: Any) -> str:
    """What a CSV file shows for a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


class DictTable(Table):
    """A dict of arrays."""

    def __init__(self, frame: Mapping[str, ArrayLike]) -> None:
        self.frame = frame
        lengths = {str(name): len(np.asarray(values)) for name, values in frame.items()}
        first = next(iter(lengths.values()), 0)
        for name, length in lengths.items():
            if length != first:
                what = f"{next(iter(lengths))} and {name}"
                error = errors.LengthMismatchError(f"{what}: {first} entries on one side and {length} on the other")
                error.what, error.left, error.right = what, first, length
                raise error
        super().__init__(list(lengths), first)

    def array(self, column: int) -> NDArray[Any]:
        return _as_array(self.frame[list(self.frame)[column]])

    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        kept: dict[str, Any] = {}
        for at, (name, values) in enumerate(self.frame.items()):
            if at in replaced:
                dtype = np.asarray(values).dtype
                kept[name] = replaced[at].astype(dtype, copy=False) if dtype.kind == "f" else replaced[at]
            elif at not in dropped:
                kept[name] = values
        return {**kept, **added}

    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        return {name: _as_array(values)[kept] for name, values in frame.items()}


class StructuredTable(Table):
    """A NumPy array with fields."""

    def __init__(self, frame: NDArray[Any]) -> None:
        if frame.ndim != 1:
            raise TypeError(f"an array of rows has one dimension, not {frame.ndim}")
        self.frame = frame
        super().__init__(list(frame.dtype.names or ()), len(frame))

    def array(self, column: int) -> NDArray[Any]:
        return np.asarray(self.frame[self.names[column]])

    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        columns: dict[str, NDArray[Any]] = {}
        for at, name in enumerate(self.names[: self.width]):
            if at in replaced:
                dtype = self.frame.dtype[name]
                columns[name] = replaced[at].astype(dtype) if dtype.kind == "f" else replaced[at]
            elif at not in dropped:
                columns[name] = self.frame[name]
        columns.update(added)
        out = np.empty(self.rows, dtype=[(name, values.dtype, values.shape[1:]) for name, values in columns.items()])
        for name, values in columns.items():
            out[name] = values
        return out

    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        return frame[kept]


class PandasTable(Table):
    """A pandas frame. Named levels of its index stand beside its columns."""

    def __init__(self, frame: Any, model: str | None) -> None:
        self.frame, self.pandas = frame, sys.modules["pandas"]
        columns = list(frame.columns)
        multi = isinstance(frame.columns, self.pandas.MultiIndex)
        super().__init__(_sktime_names(columns, model) if multi else [str(name) for name in columns], len(frame))
        self.chosen = multi and model is not None and not any(name.startswith(f"{model}-") for name in self.names)
        self._padding = frame.columns.nlevels - 1
        for level, name in enumerate(frame.index.names):
            if name is not None and str(name) not in self.names:
                self.beside(str(name), frame.index.get_level_values(level))

    def _series(self, column: int) -> Any:
        if column in self._beside:
            return self.pandas.Series(self._beside[column])
        return self.frame.iloc[:, column]

    def array(self, column: int) -> NDArray[Any]:
        series, types = self._series(column), self.pandas.api.types
        if types.is_bool_dtype(series.dtype) or not types.is_numeric_dtype(series.dtype):
            if isinstance(series.dtype, self.pandas.DatetimeTZDtype):
                series = series.dt.tz_convert("UTC").dt.tz_localize(None)
            if types.is_datetime64_any_dtype(series.dtype) and isinstance(series.dtype, np.dtype):
                return np.asarray(series.to_numpy())
            return np.asarray(series.to_numpy(dtype=object))
        if isinstance(series.dtype, np.dtype):
            return np.asarray(series.to_numpy())
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))

    def _values(self, column: int) -> NDArray[Any]:
        return self.array(column)

    def labels(self, column: int) -> Coded:
        codes, uniques = self.pandas.factorize(self._series(column))
        return np.asarray(codes, dtype=np.int64), [text(value) for value in uniques]

    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        out = self.frame.copy(deep=False)
        for at, values in replaced.items():
            dtype = self.frame.dtypes.iloc[at]
            floating = self.pandas.api.types.is_float_dtype(dtype)
            out.isetitem(at, self.pandas.array(values, dtype=dtype) if floating and dtype != np.float64 else values)
        if dropped:
            out = out.iloc[:, [at for at in range(self.width) if at not in dropped]]
        if not added:
            return out
        more = self.pandas.DataFrame(dict(added), index=out.index)
        if self._padding:
            more.columns = self.pandas.MultiIndex.from_tuples([(name, *[""] * self._padding) for name in added], names=out.columns.names)
        return self.pandas.concat([out, more], axis=1)

    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        return frame.iloc[kept]


def _sktime_names(columns: list[Any], model: str | None) -> list[str]:
    """Names for the levels that sktime gives: (variable, coverage, lower or upper), or (variable, probability)."""
    variables = list(dict.fromkeys(str(name[0]) for name in columns))
    names = []
    for name in columns:
        variable, rest = str(name[0]), [part for part in name[1:] if part != ""]
        match rest:
            case [float() | int() as coverage, "lower" | "upper" as side]:
                end = "lo" if side == "lower" else "hi"
                names.append(f"{variable}-{end}-{percent(float(coverage))}")
            case [float() as probability]:
                # Of several variables, one is meant; the others keep names that say nothing.
                meant = len(variables) == 1 or variable == model
                names.append(f"q{decimal(probability)}" if meant else f"{variable} at {decimal(probability)}")
            case []:
                names.append(variable)
            case _:
                names.append(" ".join((variable, *map(str, rest))))
    return names


def decimal(number: float) -> str:
    """A number as a person writes it: 80, 0.1, 99.5."""
    return np.format_float_positional(number, trim="-")


def percent(share: float) -> str:
    """A share in percent, as a person writes it: 55 for 0.55, not 55.00000000000001."""
    return decimal(float(f"{decimal(share)}e2"))


class PolarsTable(Table):
    """A Polars frame."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.polars = frame, sys.modules["polars"]
        super().__init__(list(frame.columns), frame.height)

    def array(self, column: int) -> NDArray[Any]:
        series = self.frame.to_series(column)
        if series.dtype.is_numeric() or series.dtype.is_temporal():
            if series.dtype.is_decimal():
                series = series.cast(self.polars.Float64)
            return np.asarray(series.to_numpy())
        return np.array(series.to_list(), dtype=object)

    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        new = []
        for at, values in replaced.items():
            name = self.names[at]
            series = self.polars.Series(name, values, nan_to_null=True)
            dtype = self.frame.schema[name]
            new.append(series.cast(dtype) if dtype.is_float() else series)
        new += [self.polars.Series(name, values, nan_to_null=True) for name, values in added.items()]
        return self.frame.drop([self.names[at] for at in sorted(dropped)]).with_columns(new)

    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        return frame[kept]


class ArrowTable(Table):
    """A table or a batch of PyArrow, or anything that gives its columns as an Arrow stream, which comes back as a table."""

    def __init__(self, frame: Any, pyarrow: Any) -> None:
        self.pyarrow = pyarrow
        self.batch = isinstance(frame, pyarrow.RecordBatch)
        self.frame = pyarrow.table(frame) if not isinstance(frame, pyarrow.Table) else frame
        super().__init__(list(self.frame.column_names), self.frame.num_rows)

    def array(self, column: int) -> NDArray[Any]:
        cells, types = self.frame.column(column), self.pyarrow.types
        if types.is_decimal(cells.type):
            cells = cells.cast(self.pyarrow.float64())
        numeric = types.is_integer(cells.type) or types.is_floating(cells.type)
        if numeric or types.is_timestamp(cells.type) or types.is_date(cells.type):
            return np.asarray(cells.to_numpy())
        return np.array(cells.to_pylist(), dtype=object)

    def labels(self, column: int) -> Coded:
        if column in self._beside or self.pyarrow.types.is_dictionary(self.frame.column(column).type):
            return super().labels(column)
        cells = self.frame.column(column).dictionary_encode().combine_chunks()
        if cells.__class__.__name__ == "ChunkedArray":  # of no rows at all
            return super().labels(column)
        codes = cells.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, [text(value) for value in cells.dictionary.to_pylist()]

    def changed(self, replaced: Mapping[int, Numbers], dropped: set[int], added: Mapping[str, Numbers]) -> Any:
        out = self.frame
        for at, values in replaced.items():
            field = out.schema.field(at)
            kind = field.type if self.pyarrow.types.is_floating(field.type) else self.pyarrow.float64()
            out = out.set_column(at, field.with_type(kind), self._new(values, kind))
        out = out.drop_columns([self.names[at] for at in sorted(dropped)]) if dropped else out
        for name, values in added.items():
            out = out.append_column(name, self._new(values, self.pyarrow.float64()))
        if not self.batch:
            return out
        arrays = [self.pyarrow.concat_arrays(cells.chunks) if cells.num_chunks else self.pyarrow.array([], cells.type) for cells in out.columns]
        return self.pyarrow.RecordBatch.from_arrays(arrays, schema=out.schema)

    def without(self, frame: Any, kept: NDArray[np.intp]) -> Any:
        return frame.take(self.pyarrow.array(kept))

    def _new(self, values: Numbers, kind: Any) -> Any:
        return self.pyarrow.array(values, from_pandas=True).cast(kind, safe=False)


def of(frame: Any, model: str | None = None) -> Table:
    """The table of a frame, whatever its kind."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return PandasTable(frame, model)
    if polars is not None and isinstance(frame, polars.DataFrame):
        return PolarsTable(frame)
    if polars is not None and isinstance(frame, polars.LazyFrame):
        raise TypeError("a lazy frame has no rows yet: collect() it first")
    if isinstance(frame, Mapping):
        return DictTable(frame)
    if isinstance(frame, np.ndarray) and frame.dtype.names:
        return StructuredTable(frame)
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        try:
            return ArrowTable(frame, import_module("pyarrow"))
        except ImportError as error:
            raise TypeError(f"pyarrow is needed to read a {type(frame).__name__}") from error
    raise TypeError(
        "a pandas, Polars or PyArrow frame, a dict of arrays, a NumPy array with fields, or anything with __arrow_c_stream__ is needed, "
        f"not {type(frame).__name__}"
    )
