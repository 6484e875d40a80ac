"""RDF files: bytes to batches of texts.

N-Triples and N-Quads are read in ranges of lines: simple lines by a kernel, the rest by pyoxigraph.
Other syntaxes are read whole, by pyoxigraph. ``s rdf:type C`` is the fact ``C(s)`` if C is an IRI,
everything else is ``p(s, o)``. Named graphs are merged, or are a last argument: ``C(s, g)``, ``p(s, o, g)``.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyoxigraph as ox

from everlog.engine.hashing import short_digest
from everlog.engine.kernels import ntriples as kernel
from everlog.engine.tables import fact_columns
from everlog.ingest.blocks import BLOCK, BYTE_ORDER_MARK, NEWLINE, SHOWN, Blocks, is_utf8, open_bytes, unreadable
from everlog.ingest.entities import EntityGuard, ExpansionError
from everlog.ingest.sources import ReadOptions
from everlog.ingest.split import BadRow, Split
from everlog.ingest.values import TEXT, large_strings
from everlog.ingest.wellformed import Completeness
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import DataError, Diagnostic, Place
from everlog.lang.terms import RDF_TYPE, literal_text

BATCH_TRIPLES = 1 << 16
"""Triples of a document in a batch."""

BATCH_CHARACTERS = 1 << 26
"""Maximum number of characters of the texts in a batch of a document, not counting the last triple."""

TERM_CHARACTERS = 1 << 26
"""Maximum number of characters of all terms of a document, whatever its size."""

TERM_CHARACTERS_PER_BYTE = 1000
"""Number of characters that terms may have besides, for each byte of the document: a short name may stand for a long
IRI, but not for one so long that a small document fills the memory."""

PEEKED = 1 << 12
"""Number of triples at the beginning of a file that are searched for named graphs."""

FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
}
DEFAULT_GRAPH = '"default"'
"""The default graph where graphs have names: a string, which no named graph can be."""

NO_SUBJECT = "the subject of a triple must be an IRI or a blank node"
"""The message of the parser for a wrong subject, which it also uses for the name of a graph."""

Fact = tuple[str | None, ...]
"""The texts of a fact: predicate with arity, arguments, None beyond its arity."""


class UnsupportedTermError(ValueError):
    """A term of RDF 1.2 that cannot be a constant."""


def read_lines(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a range of an N-Triples or N-Quads file."""
    blank = blank_prefix(split.source.name)
    default = DEFAULT_GRAPH if options.graphs else ""
    with Blocks(split.path, split.source.compressed, split.start, split.end, BLOCK) as blocks:
        while blocks.read():
            size = len(blocks.data) if blocks.final else _whole_lines(blocks.data)
            if size == 0:
                continue
            lines = blocks.data[:size]
            valid = is_utf8(lines)
            newlines = np.flatnonzero(lines == NEWLINE)
            forms, line_starts, spans = kernel.parse_lines(lines, newlines, split.source.kind == "nq")
            if not valid:
                spans = _without_bad_bytes(lines, forms, line_starts, spans)
            if len(spans):
                yield _simple_batch(lines, spans, blank, default)
            others = np.flatnonzero(forms == kernel.OTHER)
            if len(others):
                texts = _Texts(_KeptLabels(blank), options.graphs)
                yield from _other_lines(blocks, others, line_starts, split.source.kind, texts, bad)
            blocks.drop(size, len(newlines))


def read_document(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a Turtle, TriG or RDF/XML file. Nothing after a mistake is read."""
    base = options.base or Path(split.path).absolute().as_uri()
    texts = _Texts(_BlankLabels(blank_prefix(split.source.name)), options.graphs)
    with open_bytes(split.path, split.source.compressed) as file:
        document = _Document(file, split.source.kind)
        facts = texts.facts(_parse(document, split, base))
        mistaken, expanded = False, 0
        while True:
            found: list[Fact] = []
            size = 0
            try:
                for fact in islice(facts, BATCH_TRIPLES):
                    found.append(fact)
                    size += sum(map(len, filter(None, fact)))
                    if size > BATCH_CHARACTERS:
                        break
            except (SyntaxError, UnsupportedTermError) as error:
                bad.append(_bad_document(split, base, error))
                mistaken = True
            except (OSError, EOFError, zlib.error) as error:
                raise unreadable(split.path, error) from error
            except ExpansionError as error:
                raise _too_much(split, error) from error
            if not found:
                break
            expanded += size
            if expanded > TERM_CHARACTERS + TERM_CHARACTERS_PER_BYTE * document.size:
                raise _too_long(split, expanded, document.size)
            yield _batch(found)
        if not mistaken and (line := document.missing()) is not None:
            bad.append(BadRow(_place(split, line), "the document breaks off before its end"))


def merged_graphs(splits: Iterable[Split], options: ReadOptions) -> Iterator[Diagnostic]:
    """A warning for each file that has named graphs among its first triples, if their names are left out."""
    if options.graphs:
        return
    for split in {split.path: split for split in splits if split.source.kind in ("nq", "trig")}.values():
        if (name := _first_graph(split, options)) is not None:
            message = f"the names of its graphs, such as {name}, are left out: all triples are in one graph"
            hint = "ignore this, or keep them as the last argument of facts: --graphs (graphs=True in Python)"
            yield Diagnostic(Code.MERGED_GRAPHS, message, Place(split.shown), hint, severity=Severity.WARNING)


def _first_graph(split: Split, options: ReadOptions) -> str | None:
    """The first named graph among the first triples of a file. Mistakes in the file are not reported here."""
    base = options.base or Path(split.path).absolute().as_uri()
    try:
        with open_bytes(split.path, split.source.compressed) as file:
            quads = ox.parse(file, FORMATS[split.source.kind], base_iri=base)
            names = (quad.graph_name for quad in islice(quads, PEEKED))
            return next((str(name) for name in names if not isinstance(name, ox.DefaultGraph)), None)
    except (OSError, EOFError, zlib.error, ValueError, SyntaxError):
        return None


def blank_prefix(source: str) -> str:
    """The prefix of the labels of a source's blank nodes, which makes those of two sources differ.

    >>> blank_prefix("data.nt")
    '_:d14f5d3717b5-'
    """
    return f"_:{short_digest(source)}-"


def _whole_lines(data: np.ndarray[Any, Any]) -> int:
    """Number of bytes of the complete lines."""
    step = 1 << 16
    for end in range(len(data), 0, -step):
        found = data[max(0, end - step) : end].tobytes().rfind(b"\n")
        if found >= 0:
            return max(0, end - step) + found + 1
    return 0


def _without_bad_bytes(lines: Any, forms: Any, line_starts: Any, spans: Any) -> Any:
    """Mark lines that are not UTF-8 for the full parser, whose message says what is wrong."""
    raw = lines.tobytes()
    for line, (start, end) in enumerate(zip(line_starts[:-1].tolist(), line_starts[1:].tolist(), strict=True)):
        try:
            raw[start:end].decode()
        except UnicodeDecodeError:
            forms[line] += kernel.OTHER + 1
    kept = forms[(forms == kernel.SIMPLE) | (forms == kernel.SIMPLE + kernel.OTHER + 1)] == kernel.SIMPLE
    forms[forms > kernel.OTHER] = kernel.OTHER
    return spans[kept]


def _simple_batch(lines: Any, spans: Any, blank: str, default: str) -> pa.RecordBatch:
    predicates, *arguments, unary = kernel.write_triples(lines, spans, _bytes_of(blank), _bytes_of(default))
    rows = len(spans)
    names, ends = predicates
    predicate = pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(names))
    columns = [large_strings(texts, ends) for texts, ends in arguments[: 3 if default else 2]]
    if unary.any():
        _, *buffers = columns[-1].buffers()
        valid = pa.py_buffer(np.packbits(~unary, bitorder="little"))
        columns[-1] = pa.Array.from_buffers(TEXT, rows, [valid, *buffers])
    return pa.RecordBatch.from_arrays([predicate, *columns], fact_columns(len(columns)))


def _bytes_of(text: str) -> Any:
    return np.frombuffer(bytearray(text.encode()), np.uint8)


def _other_lines(
    blocks: Blocks, lines: Any, line_starts: Any, kind: str, texts: _Texts, bad: list[BadRow]
) -> Iterator[pa.RecordBatch]:
    """The facts of lines that need the full parser, parsed at once or, if one of them is wrong, one by one."""
    raw = [blocks.data[line_starts[line] : line_starts[line + 1]].tobytes() for line in lines.tolist()]
    try:
        found = _parse_lines(b"".join(raw), kind, texts)
    except (SyntaxError, UnsupportedTermError):
        found = []
        places = blocks.places(int(line_starts[line]) for line in lines)
        for line, place in zip(raw, places, strict=True):
            try:
                found += _parse_lines(line, kind, texts)
            except (SyntaxError, UnsupportedTermError) as error:
                bad.append(_bad_line(place, error))
    if found:
        yield _batch(found)


def _parse_lines(text: bytes, kind: str, texts: _Texts) -> list[Fact]:
    return list(texts.facts(ox.parse(text, FORMATS[kind])))


class _KeptLabels(dict[str, str]):
    """Maps blank nodes to texts with the labels that they have."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __missing__(self, label: str) -> str:
        return self.prefix + label


class _BlankLabels(_KeptLabels):
    """Maps the blank nodes of a document to texts: by label, or by number where the parser invented the label.

    A label of the form that the parser invents counts as invented; the order of a document is the same every time,
    so these nodes get the same texts every time. No label in a document begins with ``-``.
    """

    MADE_UP = re.compile("[a-f][0-9a-f]{15,31}")
    """A random number of 128 bits, written without the zeros before it."""

    def __missing__(self, label: str) -> str:
        if not self.MADE_UP.fullmatch(label):
            return self.prefix + label
        text = self[label] = f"{self.prefix}-{len(self)}"
        return text


@dataclass(frozen=True)
class _Texts:
    """Turns quads of the parser into the texts of facts; with ``graphs`` the graph is the last argument."""

    blanks: _KeptLabels
    graphs: bool

    def facts(self, quads: Iterable[Any]) -> Iterator[Fact]:
        """The facts of quads."""
        for quad in quads:
            subject, value = self._text(quad.subject), self._text(quad.object)
            predicate = f"<{quad.predicate.value}>"
            graph = (self._graph(quad.graph_name),) if self.graphs else ()
            if predicate == RDF_TYPE and isinstance(quad.object, ox.NamedNode):
                yield f"{value}/{1 + self.graphs}", subject, *graph, None
            else:
                yield f"{predicate}/{2 + self.graphs}", subject, value, *graph

    def _graph(self, name: Any) -> str:
        return DEFAULT_GRAPH if isinstance(name, ox.DefaultGraph) else self._text(name)

    def _text(self, term: Any) -> str:
        if isinstance(term, ox.NamedNode):
            return f"<{term.value}>"
        if isinstance(term, ox.BlankNode):
            return self.blanks[term.value]
        if isinstance(term, ox.Literal):
            if getattr(term, "direction", None) is not None:
                raise UnsupportedTermError("literals with a text direction are not supported")
            if term.language is not None:
                return literal_text(term.value, language=term.language)
            return literal_text(term.value, term.datatype.value)
        raise UnsupportedTermError("triples inside triples are not supported")


def _batch(facts: list[Fact]) -> pa.RecordBatch:
    predicates, *arguments = zip(*facts, strict=True)
    columns = [pa.array(predicates, pa.string()), *(pa.array(column, TEXT) for column in arguments)]
    return pa.RecordBatch.from_arrays(columns, fact_columns(len(arguments)))


def _reason(error: Exception) -> str:
    """The message of a parser, without the position, which the place of the error has."""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    words = " ".join(re.sub(r"^Parser error [^:]*: ", "", message).split())
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def _bad_line(place: Place, error: Exception) -> BadRow:
    if isinstance(error, SyntaxError) and error.offset is not None and error.lineno == 1:
        width = max(1, error.end_offset - error.offset) if error.end_offset and error.end_lineno == 1 else 1
        place = Place(place.file, place.line, error.offset, place.text, width)
    reason = _reason(error)
    if reason == "unexpected end of file":
        reason = "the line ends inside a term"
    elif reason == NO_SUBJECT and place.text and place.text[: (place.column or 1) - 1].strip():
        reason = "the graph of a quad must be an IRI or a blank node"
    return BadRow(place, reason)


def _bad_document(split: Split, base: str, error: Exception) -> BadRow:
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    if line is None:
        line, column = _line_of_error(split, base), None
    return BadRow(_place(split, line, column), f"{_reason(error)}; the rest of the file is not read")


def _too_much(split: Split, error: ExpansionError) -> DataError:
    """The error for a document whose entities stand for too much text."""
    with open_bytes(split.path, split.source.compressed) as file:
        before = _read_exactly(file, error.position + len(BYTE_ORDER_MARK))
    mark = len(BYTE_ORDER_MARK) if before.startswith(BYTE_ORDER_MARK) else 0
    before = before[mark : mark + error.position]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1
    place = replace(_place(split, line, column), file=split.shown)
    hint = "write out what the entity stands for; entities are meant for short texts, such as namespaces"
    return DataError.of(Code.ENTITY_EXPANSION, error.reason, place, hint)


def _too_long(split: Split, expanded: int, size: int) -> DataError:
    """The error for a document whose names stand for IRIs that are too long in all."""
    message = f"{size:,} bytes of it stand for terms of {expanded:,} characters: the IRIs of its prefixes are too long"
    hint = "declare shorter prefixes, or write the terms out as N-Triples"
    return DataError.of(Code.PREFIX_EXPANSION, message, Place(split.shown), hint)


def _parse(document: _Document, split: Split, base: str) -> Iterator[Any]:
    try:
        return ox.parse(cast(BinaryIO, document), FORMATS[split.source.kind], base_iri=base)
    except ValueError as error:
        hint = "give an absolute IRI, such as http://example.org/"
        raise DataError.of(Code.BAD_BASE, str(error), None, hint) from error


def _line_of_error(split: Split, base: str) -> int:
    """The line of a mistake for which the parser gives no place: the last line that it read when fed line by line."""
    with open_bytes(split.path, split.source.compressed) as file:
        document = _Document(file, split.source.kind, by_line=True)
        try:
            for _ in _Texts(_KeptLabels(""), False).facts(_parse(document, split, base)):
                pass
        except (SyntaxError, UnsupportedTermError):
            pass
        return max(document.lines, 1)


def _place(split: Split, number: int, column: int | None = None) -> Place:
    """The place of a line, with its text."""
    with io.BufferedReader(open_bytes(split.path, split.source.compressed)) as file:  # type: ignore[type-var]
        text = next(islice(file, number - 1, number), b"")
    return Place(split.path, number, column, text.decode(errors="replace").rstrip("\r\n")[:SHOWN])


class _Document:
    """The bytes of a document in the form that the parser takes.

    pyoxigraph refuses a byte order mark, and entities in single quotes, which OWL files often declare: the mark is
    left out, and the entities in the first block get double quotes.
    """

    ENTITY = re.compile(rb"(<!ENTITY\s+[^\s\"'>]+\s+)'([^'\"]*)'")

    def __init__(self, file: Any, kind: str, by_line: bool = False) -> None:
        self._file = file
        self._completeness = Completeness() if kind == "rdf" else None
        self._entities = EntityGuard() if kind == "rdf" else None
        self._head: bytes | None = None
        self._by_line = by_line
        self._line_ended = True
        self._ended = False
        self.lines = 0
        self.size = 0
        """The number of bytes that were read."""

    def read(self, size: int = -1) -> bytes:
        size = size if size >= 0 else 1 << 16
        if self._head is None:
            head = _read_exactly(self._file, 1 << 16).removeprefix(BYTE_ORDER_MARK)
            self._head = self._counted(self.ENTITY.sub(rb'\1"\2"', head))
        elif not self._head:
            self._head = self._counted(self._file.read(1 << 16))
        end = self._head.find(b"\n") + 1 if self._by_line else 0
        taken = min(size, end or size)
        piece, self._head = self._head[:taken], self._head[taken:]
        self.lines += self._line_ended and piece != b""
        self._line_ended = piece.endswith(b"\n")
        self._ended = piece == b""
        if self._completeness:
            self._completeness.feed(piece)
        return piece

    def _counted(self, block: bytes) -> bytes:
        """The block; an error if entities stand for too much text."""
        self.size += len(block)
        if self._entities:
            self._entities.feed(block)
        return block

    def missing(self) -> int | None:
        """The line on which the document ends too early, if that is known; None if it was not read to its end."""
        return self._completeness.missing() if self._completeness and self._ended else None


def _read_exactly(file: Any, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
