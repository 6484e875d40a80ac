"""Real relations with numbered terms: tab-separated graphs and hierarchies, and predicates of RDF files."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.generators import distinct
from bench.inputs import SHARED, read_shared
from bench.maintenance.workloads import Facts

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
FORMATS = {".ttl": "TURTLE", ".rdf": "RDF_XML", ".owl": "RDF_XML", ".nt": "N_TRIPLES"}


def read_tables(paths: Mapping[str, str]) -> Facts:
    """Read tab-separated files of the shared data, one for each predicate."""
    return numbered({name: read_shared(path) for name, path in paths.items()})


def read_rdf(path: str, predicates: Mapping[str, Sequence[str]]) -> Facts:
    """Read predicates of an RDF file of the shared data, each the union of some IRIs; ^ before an IRI means its
    inverse."""
    import pyoxigraph

    wanted = {iri.lstrip("^"): (name, iri[0] == "^") for name, iris in predicates.items() for iri in iris}
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in predicates}
    kind = getattr(pyoxigraph.RdfFormat, FORMATS[Path(path.removesuffix(".gz")).suffix])
    text = gzip.decompress((SHARED / path).read_bytes())
    for triple in pyoxigraph.parse(text, format=kind, base_iri="http://example.org/"):
        at = wanted.get(triple.predicate.value)
        if at is not None:
            ends = str(triple.subject), str(triple.object)
            pairs[at[0]].append(ends[::-1] if at[1] else ends)
    return numbered({name: pa.table(list(zip(*rows, strict=True)), ["x", "y"]) for name, rows in pairs.items() if rows})


def numbered(tables: Mapping[str, Any]) -> Facts:
    """Terms as numbers, in tables of one or two columns; a term has one number in all tables.

    >>> numbered({"e": pa.table({"x": ["b", "a"], "y": ["a", "a"]})})["e"].tolist()
    [[0, 1], [1, 1]]
    """
    columns = [column.combine_chunks() for table in tables.values() for column in table.columns]
    ids = pa.chunked_array(columns).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    parts = iter(np.split(ids, np.cumsum([len(column) for column in columns])[:-1]))
    return {name: distinct(np.stack([next(parts) for _ in table.columns], axis=1)) for name, table in tables.items()}
