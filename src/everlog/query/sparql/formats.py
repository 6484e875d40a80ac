"""Writing answers in the standard formats: SPARQL results as CSV, TSV, JSON and XML, triples as N-Triples and Turtle.

Each distinct term of a column is converted once; rows are joined by Arrow, in batches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.compute as pc

from everlog.lang.codes import Code
from everlog.lang.errors import DataError
from everlog.lang.terms import IRI, LANG_STRING, NOT_IN_IRI, BlankNode, Literal
from everlog.query.sparql.results import Result, Solutions, Triples, Truth
from everlog.query.sparql.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING, Node, node_of
from everlog.query.typed import BATCH_ROWS

Cells = Any
"""A LargeStringArray: a cell for each row, null where there is none."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f]')
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
BARE = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    BOOLEAN: re.compile("true|false"),
}
"""The lexical forms that TSV has without quotes and datatype."""

XML_HEAD = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'


def write(result: Result, form: str, file: IO[bytes], *, prefixes: Mapping[str, str] | None = None) -> None:
    """Write an answer in one of :data:`SOLUTION_FORMATS` or :data:`GRAPH_FORMATS`.

    >>> import io, everlog
    >>> out = io.BytesIO()
    >>> write(everlog.KnowledgeBase("edge(a, 1) .").sparql("SELECT * { ?x everlog:edge ?y }"), "tsv", out)
    >>> out.getvalue()
    b'?x\\t?y\\n"a"\\t1\\n'
    """
    if isinstance(result, Truth):
        file.write(_truth(bool(result), form).encode())
    elif form in GRAPH_FORMATS:
        if not isinstance(result, Triples):
            hint = f"answers of SELECT can be written as {', '.join(SOLUTION_FORMATS)}"
            raise DataError.of(Code.WRONG_FORMAT, f"{form} is for the triples of CONSTRUCT and DESCRIBE", None, hint)
        if form == "ttl":
            write_turtle(_lines(result), file, prefixes or {})
        else:
            for line in _lines(result):
                file.write(line)
    else:
        SOLUTION_FORMATS[form](result, file)


def _truth(answer: bool, form: str) -> str:
    shown = str(answer).lower()
    if form == "json":
        return f'{{"head": {{}}, "boolean": {shown}}}\n'
    if form == "xml":
        return f"{XML_HEAD}<head></head>\n<boolean>{shown}</boolean>\n</sparql>\n"
    return f"{shown}\n"


# solutions --------------------------------------------------------------------------------------


def _write_csv(result: Solutions, file: IO[bytes]) -> None:
    """Write CSV: values without their types and lines that end with CR LF, as the standard requires."""
    file.write((",".join(result.columns) + "\r\n").encode())
    for cells in _batches(result, lambda name, node: _csv_cell(node)):
        file.write(_joined(cells, ",", "\r\n"))


def _write_tsv(result: Solutions, file: IO[bytes]) -> None:
    file.write(("\t".join(f"?{name}" for name in result.columns) + "\n").encode())
    for cells in _batches(result, lambda name, node: _tsv_cell(node)):
        file.write(_joined(cells, "\t", "\n"))


def _write_json(result: Solutions, file: IO[bytes]) -> None:
    names = json.dumps(list(result.columns), ensure_ascii=False)
    file.write(f'{{"head": {{"vars": {names}}}, "results": {{"bindings": ['.encode())
    separator = "\n"
    for cells in _batches(result, _json_cell):
        rows = pc.replace_substring_regex(_rows(cells, ""), "^, ", "")
        whole = pc.binary_join_element_wise(_text("{"), rows, _text("}"), _text(""))
        file.write((separator + ",\n".join(whole.to_pylist())).encode())
        separator = ",\n"
    file.write(b"\n]}}\n")


def _write_xml(result: Solutions, file: IO[bytes]) -> None:
    names = "".join(f"<variable name={quoteattr(name)}/>" for name in result.columns)
    file.write(f"{XML_HEAD}<head>{names}</head>\n<results>\n".encode())
    for cells in _batches(result, _xml_cell):
        whole = pc.binary_join_element_wise(_text("<result>"), _rows(cells, ""), _text("</result>\n"), _text(""))
        file.write("".join(whole.to_pylist()).encode())
    file.write(b"</results>\n</sparql>\n")


def _batches(result: Solutions, cell: Callable[[str, Node], str]) -> Iterator[list[Cells]]:
    """The rows as columns of cells, of which each distinct one is made once."""
    columns = []
    for name, ids in zip(result.columns, result.ids(), strict=True):
        texts, places = result.different(ids)
        columns.append((pa.array([cell(name, node_of(text)) for text in texts], pa.large_string()), places))
    for start in range(0, len(result), BATCH_ROWS):
        shown = [(cells, places[start : start + BATCH_ROWS]) for cells, places in columns]
        found = [cells.take(pa.array(places, mask=places < 0)) for cells, places in shown]
        yield found or [pa.nulls(min(BATCH_ROWS, len(result) - start), pa.large_string())]


def _rows(cells: Sequence[Cells], separator: str) -> Cells:
    """The joined cells of each row, empty where there is none."""
    return pc.binary_join_element_wise(*cells, _text(separator), null_handling="replace", null_replacement="")


def _joined(cells: Sequence[Cells], separator: str, end: str) -> bytes:
    return "".join(row + end for row in _rows(cells, separator).to_pylist()).encode()


def _text(value: str) -> Any:
    return pa.scalar(value, pa.large_string())


def _csv_cell(node: Node) -> str:
    """A term in CSV: the IRI, the label or the lexical form.

    >>> _csv_cell(Literal('a "b"', STRING))
    '"a ""b\""\"'
    """
    shown = f"_:{node.label}" if isinstance(node, BlankNode) else str(node)
    return '"{}"'.format(shown.replace('"', '""')) if re.search(r'[",\r\n]', shown) else shown


def _tsv_cell(node: Node) -> str:
    if isinstance(node, Literal) and node.datatype in BARE and BARE[node.datatype].fullmatch(node.lexical):
        return node.lexical
    return ntriples_term(node)


def _json_cell(name: str, node: Node) -> str:
    """A member of a solution with the comma before it."""
    if isinstance(node, IRI):
        shown = f'"uri", "value": {_quoted(node.value)}'
    elif isinstance(node, BlankNode):
        shown = f'"bnode", "value": {_quoted(node.label)}'
    else:
        shown = f'"literal", "value": {_quoted(node.lexical)}'
        if node.language is not None:
            shown += f', "xml:lang": {_quoted(node.language)}'
        elif node.datatype != STRING:
            shown += f', "datatype": {_quoted(str(node.datatype))}'
    return f', {_quoted(name)}: {{"type": {shown}}}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _xml_cell(name: str, node: Node) -> str:
    if isinstance(node, IRI):
        shown = f"<uri>{_xml(node.value)}</uri>"
    elif isinstance(node, BlankNode):
        shown = f"<bnode>{_xml(node.label)}</bnode>"
    elif node.language is not None:
        shown = f"<literal xml:lang={quoteattr(node.language)}>{_xml(node.lexical)}</literal>"
    elif node.datatype != STRING:
        shown = f"<literal datatype={quoteattr(str(node.datatype))}>{_xml(node.lexical)}</literal>"
    else:
        shown = f"<literal>{_xml(node.lexical)}</literal>"
    return f"<binding name={quoteattr(name)}>{shown}</binding>"


def _xml(text: str) -> str:
    """Escaped text for an XML document, which cannot contain some control characters at all."""
    return escape(_NOT_IN_XML.sub("\ufffd", text), {"\r": "&#13;"})


# triples ----------------------------------------------------------------------------------------


def ntriples_term(node: Node) -> str:
    r"""A term as N-Triples writes it.

    >>> ntriples_term(Literal('a"\n', STRING)), ntriples_term(Literal("1", INTEGER))
    ('"a\\"\\n"', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    if isinstance(node, IRI):
        return f"<{NOT_IN_IRI.sub(_code, node.value)}>"
    if isinstance(node, BlankNode):
        return f"_:{node.label}"
    escaped = _SPECIAL.sub(lambda match: _ESCAPES.get(match.group()) or _code(match), node.lexical)
    quoted = f'"{escaped}"'
    if node.datatype == LANG_STRING:
        return f"{quoted}@{node.language}"
    return quoted if node.datatype == STRING else f"{quoted}^^<{NOT_IN_IRI.sub(_code, str(node.datatype))}>"


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04X}"


def _lines(result: Triples) -> Iterator[bytes]:
    """The triples as blocks of N-Triples."""
    for cells in _batches(result, lambda name, node: ntriples_term(node)):
        yield _joined(cells, " ", " .\n")


def write_turtle(lines: Iterable[bytes], file: IO[bytes], prefixes: Mapping[str, str]) -> None:
    """Write blocks of N-Triples as Turtle; triples about one subject that follow each other are written together."""
    import pyoxigraph as ox

    triples = (quad.triple for block in lines for quad in ox.parse(bytes(block), ox.RdfFormat.N_TRIPLES, lenient=True))
    named = {name: iri for name, iri in prefixes.items() if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri)}
    ox.serialize(triples, file, ox.RdfFormat.TURTLE, prefixes=named)


GRAPH_FORMATS = ("nt", "ttl")
SOLUTION_FORMATS: Mapping[str, Callable[[Solutions, IO[bytes]], None]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "json": _write_json,
    "xml": _write_xml,
}
