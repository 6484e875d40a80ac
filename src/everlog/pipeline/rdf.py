"""RDF files: bytes to batches of texts.

N-Triples and N-Quads are read in ranges of lines: simple lines by a kernel, the rest by pyoxigraph.
Other syntaxes are read whole, by pyoxigraph. Named graphs are merged. ``s rdf:type C`` is the unary
fact ``C(s)`` if C is an IRI, everything else is binary.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyoxigraph as ox
import xxhash

from everlog.engine.kernels import ntriples as kernel
from everlog.lang.errors import Place
from everlog.lang.terms import RDF_TYPE, literal_text
from everlog.pipeline.blocks import BLOCK, BYTE_ORDER_MARK, SHOWN, Blocks, is_utf8, open_bytes, unreadable
from everlog.pipeline.sources import ReadOptions
from everlog.pipeline.split import BadRow, Split
from everlog.pipeline.values import TEXT, large_strings

BATCH_TRIPLES = 1 << 16
FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
}
Triple = tuple[str, str, str | None]
"""The texts of a fact: predicate with arity, subject, object or None."""


class UnsupportedTermError(ValueError):
    """A term of RDF 1.2 that cannot be a constant."""


def read_lines(split: Split, options: ReadOptions, bad: list[BadRow], block: int = BLOCK) -> Iterator[pa.RecordBatch]:
    """The facts of a range of an N-Triples or N-Quads file."""
    blank = blank_prefix(split.source.name)
    blank_bytes = np.frombuffer(bytearray(blank.encode()), np.uint8)
    with Blocks(split.path, split.source.compressed, split.start, split.end, block) as blocks:
        while blocks.read():
            size = len(blocks.data) if blocks.final else _whole_lines(blocks.data)
            if size == 0:
                continue
            lines = blocks.data[:size]
            valid = is_utf8(lines)
            forms, line_starts, spans = kernel.parse_lines(lines, split.source.kind == "nq")
            if not valid:
                spans = _without_bad_bytes(lines, forms, line_starts, spans)
            if len(spans):
                yield _simple_batch(lines, spans, blank_bytes)
            others = np.flatnonzero(forms == kernel.OTHER)
            if len(others):
                yield from _other_lines(blocks, others, line_starts, split.source.kind, blank, bad)
            blocks.drop(size)


def read_document(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a Turtle, TriG or RDF/XML file. What follows a mistake is not read."""
    base = options.base or Path(split.path).absolute().as_uri()
    labels = _Labels(blank_prefix(split.source.name))
    with open_bytes(split.path, split.source.compressed) as file:
        triples = _triples(_parse(_Document(file), split, base), labels)
        while True:
            found: list[Triple] = []
            try:
                found.extend(islice(triples, BATCH_TRIPLES))
            except (SyntaxError, UnsupportedTermError) as error:
                bad.append(_bad_document(split, base, error))
            except (OSError, EOFError, zlib.error) as error:
                raise unreadable(split.path, error) from error
            if not found:
                return
            yield _batch(found)


def blank_prefix(source: str) -> str:
    """What comes before the label of the blank nodes of a source, so that those of two sources differ.

    >>> blank_prefix("data.nt")
    '_:d14f5d3717b5-'
    """
    return f"_:{xxhash.xxh64_hexdigest(source.encode(), 42)[:12]}-"


def _whole_lines(data: np.ndarray[Any, Any]) -> int:
    """How many bytes the lines that are complete take."""
    step = 1 << 16
    for end in range(len(data), 0, -step):
        found = data[max(0, end - step) : end].tobytes().rfind(b"\n")
        if found >= 0:
            return max(0, end - step) + found + 1
    return 0


def _without_bad_bytes(lines: Any, forms: Any, line_starts: Any, spans: Any) -> Any:
    """Leave lines that are not UTF-8 to the full parser, which says what is wrong with them."""
    raw = lines.tobytes()
    for line, (start, end) in enumerate(zip(line_starts[:-1].tolist(), line_starts[1:].tolist(), strict=True)):
        try:
            raw[start:end].decode()
        except UnicodeDecodeError:
            forms[line] += kernel.OTHER + 1
    kept = forms[(forms == kernel.SIMPLE) | (forms == kernel.SIMPLE + kernel.OTHER + 1)] == kernel.SIMPLE
    forms[forms > kernel.OTHER] = kernel.OTHER
    return spans[kept]


def _simple_batch(lines: Any, spans: Any, blank: Any) -> pa.RecordBatch:
    predicates, predicate_ends, subjects, subject_ends, objects, object_ends, unary = kernel.write_triples(
        lines, spans, blank
    )
    rows = len(spans)
    predicate = pa.StringArray.from_buffers(rows, pa.py_buffer(predicate_ends), pa.py_buffer(predicates))
    valid = pa.py_buffer(np.packbits(~unary, bitorder="little")) if unary.any() else None
    buffers = [valid, pa.py_buffer(object_ends), pa.py_buffer(objects)]
    second = pa.Array.from_buffers(TEXT, rows, buffers)
    return pa.RecordBatch.from_arrays(
        [predicate, large_strings(subjects, subject_ends), second], ["predicate", "c0", "c1"]
    )


def _other_lines(
    blocks: Blocks, lines: Any, line_starts: Any, kind: str, blank: str, bad: list[BadRow]
) -> Iterator[pa.RecordBatch]:
    """The facts of lines that need the full parser, all together or, if one of them is wrong, one by one."""
    texts = [blocks.data[line_starts[line] : line_starts[line + 1]].tobytes() for line in lines.tolist()]
    try:
        found = _parse_lines(b"".join(texts), kind, blank)
    except (SyntaxError, UnsupportedTermError):
        found = []
        places = blocks.places(int(line_starts[line]) for line in lines)
        for text, place in zip(texts, places, strict=True):
            try:
                found += _parse_lines(text, kind, blank)
            except (SyntaxError, UnsupportedTermError) as error:
                bad.append(_bad_line(place, error))
    if found:
        yield _batch(found)


def _parse_lines(text: bytes, kind: str, blank: str) -> list[Triple]:
    return list(_triples(ox.parse(text, FORMATS[kind]), _Kept(blank)))


class _Kept(dict[str, str]):
    """The texts of blank nodes that keep their label."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __missing__(self, label: str) -> str:
        return self.prefix + label


class _Labels(_Kept):
    """The texts of blank nodes whose labels mean nothing: numbered in the order in which they appear."""

    def __missing__(self, label: str) -> str:
        text = self[label] = f"{self.prefix}{len(self)}"
        return text


def _triples(quads: Iterable[Any], blanks: _Kept) -> Iterator[Triple]:
    for quad in quads:
        subject = _text(quad.subject, blanks)
        predicate = f"<{quad.predicate.value}>"
        value = _text(quad.object, blanks)
        if predicate == RDF_TYPE and isinstance(quad.object, ox.NamedNode):
            yield value + "/1", subject, None
        else:
            yield predicate + "/2", subject, value


def _text(term: Any, blanks: _Kept) -> str:
    if isinstance(term, ox.NamedNode):
        return f"<{term.value}>"
    if isinstance(term, ox.BlankNode):
        return blanks[term.value]
    if isinstance(term, ox.Literal):
        if getattr(term, "direction", None) is not None:
            raise UnsupportedTermError("literals with a text direction are not supported")
        if term.language is not None:
            return literal_text(term.value, language=term.language)
        return literal_text(term.value, term.datatype.value)
    raise UnsupportedTermError("triples inside triples are not supported")


def _batch(triples: list[Triple]) -> pa.RecordBatch:
    predicates, subjects, objects = zip(*triples, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(predicates, pa.string()), pa.array(subjects, TEXT), pa.array(objects, TEXT)],
        ["predicate", "c0", "c1"],
    )


def _reason(error: Exception) -> str:
    """What a parser complains about, without the position that the place already tells."""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return re.sub(r"^Parser error [^:]*: ", "", message)


def _bad_line(place: Place, error: Exception) -> BadRow:
    if isinstance(error, SyntaxError) and error.offset is not None and error.lineno == 1:
        width = max(1, error.end_offset - error.offset) if error.end_offset and error.end_lineno == 1 else 1
        place = Place(place.file, place.line, error.offset, place.text, width)
    reason = _reason(error)
    return BadRow(place, "the line ends inside a term" if reason == "Unexpected end of file" else reason)


def _bad_document(split: Split, base: str, error: Exception) -> BadRow:
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    if line is None:
        line, column = _line_of_error(split, base), None
    place = Place(split.path, line, column, _line(split, line))
    return BadRow(place, f"{_reason(error)}; the rest of the file is not read")


def _parse(document: _Document, split: Split, base: str) -> Iterator[Any]:
    return ox.parse(cast(BinaryIO, document), FORMATS[split.source.kind], base_iri=base)


def _line_of_error(split: Split, base: str) -> int:
    """The line of a mistake that the parser does not place: the last one it asked for when fed line by line."""
    with open_bytes(split.path, split.source.compressed) as file:
        document = _Document(file, by_line=True)
        try:
            for _ in _triples(_parse(document, split, base), _Kept("")):
                pass
        except (SyntaxError, UnsupportedTermError):
            pass
        return document.lines


def _line(split: Split, number: int) -> str:
    with io.BufferedReader(open_bytes(split.path, split.source.compressed)) as file:  # type: ignore[type-var]
        text = next(islice(file, number - 1, number), b"")
    return text.decode(errors="replace").rstrip("\r\n")[:SHOWN]


class _Document:
    """The bytes of a document as the parser takes them.

    pyoxigraph refuses a byte order mark, and entities in single quotes, which OWL files often declare:
    the mark is left out, and the entities in the first block get double quotes.
    """

    ENTITY = re.compile(rb"(<!ENTITY\s+[^\s\"'>]+\s+)'([^'\"]*)'")

    def __init__(self, file: Any, by_line: bool = False) -> None:
        self._file = file
        head = _read_exactly(file, 1 << 16).removeprefix(BYTE_ORDER_MARK)
        self._head = self.ENTITY.sub(rb'\1"\2"', head)
        self._by_line = by_line
        self._line_ended = True
        self.lines = 0

    def read(self, size: int = -1) -> bytes:
        size = size if size >= 0 else 1 << 16
        if not self._head:
            self._head = self._file.read(1 << 16)
        end = self._head.find(b"\n") + 1 if self._by_line else 0
        taken = min(size, end or size)
        piece, self._head = self._head[:taken], self._head[taken:]
        self.lines += self._line_ended
        self._line_ended = piece.endswith(b"\n")
        return piece


def _read_exactly(file: Any, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
