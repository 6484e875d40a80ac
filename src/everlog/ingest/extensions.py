"""Names of files: the kind of a file by its extension, and files that are hidden."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

KIND_OF_EXTENSION: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".facts": "tsv",
    ".parquet": "parquet",
    ".nt": "nt",
    ".nq": "nq",
    ".ttl": "ttl",
    ".trig": "trig",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".xml": "rdf",
}
"""The kind of a file by its extension."""

RDF_KINDS = frozenset({"nt", "nq", "ttl", "trig", "rdf"})
"""The kinds of RDF files, which have predicates of their own."""


def is_hidden(relative: str) -> bool:
    """Whether a file is hidden, or in a hidden directory; such files are not read.

    >>> is_hidden("a/_temporary/b.csv"), is_hidden("./a/b.csv")
    (True, False)
    """
    return any(part.startswith(("_", ".")) for part in relative.split("/") if part not in ("", ".", ".."))


def kind_by_name(name: str) -> str | None:
    """The kind of a file by its name, None if the extension is not known.

    >>> kind_by_name("in/edge.csv.gz"), kind_by_name("notes.txt")
    ('csv', None)
    """
    return kind_and_stem(Path(name))[0]


def kind_and_stem(path: Path) -> tuple[str | None, str, bool]:
    """The kind by extension, the name without the extension, and whether the file is compressed."""
    name = path.name
    compressed = name.lower().endswith(".gz")
    stem, extension = os.path.splitext(name[:-3] if compressed else name)
    return KIND_OF_EXTENSION.get(extension.lower()), stem, compressed
