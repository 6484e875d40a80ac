"""Reading a piece of a source: bytes in, batches of facts as texts out.

A batch has the column ``predicate`` (``name/arity``) and ``c0``, ``c1``, ... with canonical texts.
Readers need nothing but the file, so they run alike in process and inside Spark's executors.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from everlog.pipeline.delimited import read_delimited
from everlog.pipeline.parquet import read_parquet
from everlog.pipeline.rdf import read_document, read_lines
from everlog.pipeline.sources import ReadOptions
from everlog.pipeline.split import BadRow, Split

READERS = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "delta": read_parquet,
    "nt": read_lines,
    "nq": read_lines,
    "ttl": read_document,
    "trig": read_document,
    "rdf": read_document,
}


def read(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a split. Rows that cannot be facts are appended to ``bad`` and left out."""
    return READERS[split.source.kind](split, options, bad)


__all__ = ["BadRow", "Split", "read"]
