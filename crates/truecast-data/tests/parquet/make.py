"""Writes the Parquet files that tests/parquet.rs reads, with implementations that share nothing with ours.

    python -m venv .venv && .venv/bin/pip install pandas pyarrow polars
    .venv/bin/python crates/truecast-data/tests/parquet/make.py

The values are written again in the test; whoever changes one changes both.
"""

import datetime as dt
import decimal
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
D = decimal.Decimal


def pandas_snappy():
    frame = pd.DataFrame(
        {
            "y": [1.5, np.nan, -2.25],
            "single": np.array([0.5, 1.5, 2.5], dtype="float32"),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "small": np.array([-1, 0, 127], dtype="int8"),
            "name": ["a", None, "ü"],
            "group": pd.Categorical(["x", "y", "x"]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "time": pd.to_datetime(["2026-11-16T12:00:00.5", None, "1969-12-31T23:59:59"], format="ISO8601"),
        },
        index=[10, 20, 30],
    )
    frame.to_parquet(HERE / "pandas.parquet", engine="pyarrow", compression="snappy")


def pyarrow_types():
    noon = dt.datetime(2026, 11, 16, 12, 0, 0, 500_000)
    before = dt.datetime(1969, 12, 31, 23, 59, 59)
    times = {
        unit: pa.array([noon if unit != "s" else noon.replace(microsecond=0), None, before], pa.timestamp(unit))
        for unit in ("s", "ms", "us", "ns")
    }
    columns = {f"time_{unit}": values for unit, values in times.items()}
    columns["time_utc"] = pa.array([noon, None, before], pa.timestamp("us", tz="UTC"))
    columns["day"] = pa.array([dt.date(2026, 11, 16), None, dt.date(1969, 12, 31)])
    for bits, precision in (("32", 9), ("64", 18), ("128", 38), ("256", 76)):
        kind = pa.decimal256(precision, 2) if bits == "256" else pa.decimal128(precision, 2)
        columns[f"decimal_{bits}"] = pa.array([D("123.45"), None, D("-0.01")], kind)
    columns["u8"] = pa.array([0, None, 255], pa.uint8())
    columns["u32"] = pa.array([0, None, 4_294_967_295], pa.uint32())
    columns["u64"] = pa.array([0, None, 9_223_372_036_854_775_807], pa.uint64())
    columns["bytes"] = pa.array([b"plain", None, b""], pa.binary())
    columns["nothing"] = pa.nulls(3)
    table = pa.table(columns)
    pq.write_table(
        table,
        HERE / "pyarrow.parquet",
        compression="zstd",
        use_dictionary=True,
        store_decimal_as_integer=True,
        row_group_size=2,
    )
    old = pa.table({"time": times["ns"], "decimal": columns["decimal_128"]})
    pq.write_table(
        old, HERE / "old.parquet", compression="gzip", version="1.0", use_deprecated_int96_timestamps=True
    )


def codecs_and_encodings():
    # 1,000 rows in pages of the second version, each column in another encoding.
    rows = range(1_000)
    table = pa.table(
        {
            "delta": pa.array([k * k - 500 for k in rows], pa.int64()),
            "split": pa.array([k / 8 for k in rows], pa.float64()),
            "prefix": pa.array([f"series-{k // 7}" for k in rows]),
            "choice": pa.array([None if k % 5 == 0 else "abc"[k % 3] for k in rows]),
        }
    )
    for codec in ("none", "lz4", "gzip", "brotli"):
        pq.write_table(
            table,
            HERE / f"{codec}.parquet",
            compression=codec,
            use_dictionary=["choice"],
            column_encoding={
                "delta": "DELTA_BINARY_PACKED",
                "split": "BYTE_STREAM_SPLIT",
                "prefix": "DELTA_BYTE_ARRAY",
            },
            data_page_version="2.0",
            data_page_size=512,
            write_statistics=False,
        )


def polars_default():
    frame = pl.DataFrame(
        {
            "y": [1.5, None, -2.25],
            "nan": [0.5, float("nan"), 1.0],
            "name": ["a", None, "ü"],
            "day": [dt.date(2026, 11, 16), None, dt.date(1969, 12, 31)],
            "time": [dt.datetime(2026, 11, 16, 12, 0, 0, 500_000), None, dt.datetime(1969, 12, 31, 23, 59, 59)],
            "count": [1, None, 3],
            "flag": [True, None, False],
        }
    ).with_columns(pl.Series("group", ["x", "y", "x"], dtype=pl.Categorical))
    frame.write_parquet(HERE / "polars.parquet")


def refused():
    pq.write_table(pa.table({"y": [1.0], "members": [[1.0, 2.0]]}), HERE / "list.parquet")
    pq.write_table(pa.table({"y": [1.0], "point": [{"a": 1}]}), HERE / "struct.parquet")
    pq.write_table(pa.table({"at": pa.array([dt.time(12)])}), HERE / "time.parquet")
    pq.write_table(pa.table({"n": pa.array([1, 2**63], pa.uint64())}), HERE / "large.parquet")
    pq.write_table(pa.table({"b": pa.array([b"ok", b"\xff"])}), HERE / "binary.parquet")


pandas_snappy()
pyarrow_types()
codecs_and_encodings()
polars_default()
refused()
