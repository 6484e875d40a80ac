"""The triples of ontology files, in memory and indexed by subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import pyarrow as pa

from everlog.ingest.extensions import KIND_OF_EXTENSION, RDF_KINDS
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow
from everlog.ingest.splits import splits
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic, Place
from everlog.owl.vocabulary import FIRST, NIL, REST, TYPE

Triple = tuple[str, str, str]
Statements = Mapping[str, Sequence[str]]

_NO_STATEMENTS: Statements = MappingProxyType({})
_MOST_SHOWN = 20
"""Maximum number of bad rows of an ontology that an error shows."""


class NotUnderstoodError(ValueError):
    """Triples in the vocabulary of RDF and OWL that do not form a list, an expression or an axiom."""


@dataclass(frozen=True)
class OntologyGraph:
    """Distinct triples as texts, in the order in which they were read.

    >>> graph = OntologyGraph.of([("_:l", FIRST, "1"), ("_:l", REST, NIL), ("<a>", TYPE, "<C>")])
    >>> graph.members("_:l"), graph.types("<a>")
    (('1',), ['<C>'])
    """

    triples: tuple[Triple, ...]
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    _about: Mapping[str, Statements] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, triples: Iterable[Triple], prefixes: Mapping[str, str] | None = None) -> OntologyGraph:
        distinct = tuple(dict.fromkeys(triples))
        about: dict[str, dict[str, list[str]]] = {}
        for subject, predicate, value in distinct:
            about.setdefault(subject, {}).setdefault(predicate, []).append(value)
        return cls(distinct, MappingProxyType(dict(prefixes or {})), about)

    def about(self, subject: str) -> Statements:
        """The values of each predicate of a subject."""
        return self._about.get(subject, _NO_STATEMENTS)

    def values(self, subject: str, predicate: str) -> Sequence[str]:
        return self.about(subject).get(predicate, ())

    def types(self, subject: str) -> Sequence[str]:
        return self.values(subject, TYPE)

    def members(self, cell: str) -> tuple[str, ...]:
        """The members of the list that starts with a cell."""
        found, seen = [], set()
        while cell != NIL:
            first, rest = self.values(cell, FIRST), self.values(cell, REST)
            if cell in seen or len(first) != 1 or len(rest) != 1:
                raise NotUnderstoodError("a list is broken: each cell needs one member and one rest, and an end")
            seen.add(cell)
            found.append(first[0])
            cell = rest[0]
        return tuple(found)


@dataclass(frozen=True)
class Document:
    """The contents of RDF files, as batches of facts (see :mod:`everlog.ingest.read`), and the prefixes they
    declare."""

    batches: tuple[pa.RecordBatch, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def read_document(paths: Sequence[str], base: str | None = None) -> Document:
    """Read RDF files (any serialisation, also compressed) and directories of them.

    Text that cannot be read raises a :class:`DataError` with file and line. Blank nodes have the labels that they get
    when the files are read as facts.
    """
    with TemporaryDirectory(prefix="everlog-") as work:
        return _read(paths, ReadOptions(base=base), Path(work))


def _read(paths: Sequence[str], options: ReadOptions, work: Path) -> Document:
    sources = resolve(paths, options, work)
    others = [source for source in sources if source.kind not in RDF_KINDS]
    if others:
        extensions = " ".join(extension for extension, kind in KIND_OF_EXTENSION.items() if kind in RDF_KINDS)
        hint = f"an ontology has one of the extensions {extensions}, also with .gz"
        raise DataError(
            Diagnostic(Code.NOT_AN_ONTOLOGY, "the file is not RDF", Place(s.shown(s.path)), hint) for s in others
        )
    bad: list[BadRow] = []
    parts = splits(sources, options)
    batches = [batch for split in parts for batch in read(split, options, bad)]
    if bad:
        shown = {split.path: split.shown for split in parts}
        placed = [(row.reason, replace(row.place, file=shown[row.place.file])) for row in bad[:_MOST_SHOWN]]
        raise DataError(Diagnostic(Code.BAD_ROW, reason, place) for reason, place in placed)
    return Document(tuple(batches), MappingProxyType(declared_prefixes(sources)))


def triples_in(batch: pa.RecordBatch) -> Iterator[Triple]:
    """The triples of facts, the inverse of reading: ``C(s)`` is ``s rdf:type C``."""
    columns = (batch.column(name).to_pylist() for name in ("predicate", "c0", "c1"))
    for predicate, subject, value in zip(*columns, strict=True):
        name = predicate[:-2]
        yield (subject, TYPE, name) if value is None else (subject, name, value)
