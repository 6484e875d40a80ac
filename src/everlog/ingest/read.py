"""Reading a piece of a source: bytes in, batches of facts as texts out.

A batch has the column ``predicate`` (``name/arity``) and ``c0``, ``c1``, ... with canonical texts.
Readers need nothing but the file, so they run alike in process and inside Spark's executors.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from everlog.ingest.delimited import read_delimited
from everlog.ingest.extensions import RDF_KINDS
from everlog.ingest.parquet import read_parquet
from everlog.ingest.rdf import read_document, read_lines
from everlog.ingest.sources import ReadOptions
from everlog.ingest.split import BadRow, Split
from everlog.ingest.triples import as_triples, wants_triples

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
"""The reader of each kind of file."""


def read(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a split. Rows that cannot be facts are appended to ``bad`` and left out.

    RDF is read as ``triple(s, p, o)`` if the options know a predicate ``triple`` of three arguments, with
    graphs as ``triple(s, p, o, g)`` if they know one of four.
    """
    batches = READERS[split.source.kind](split, options, bad)
    if split.source.kind in RDF_KINDS and wants_triples(options):
        return map(as_triples, batches)
    return batches
