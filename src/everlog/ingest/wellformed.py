"""Whether an XML document is complete. pyoxigraph accepts one that ends between two tags."""

from __future__ import annotations

from xml.parsers import expat

BREAKS_OFF = frozenset(
    expat.errors.codes[error]
    for error in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


class Completeness:
    """Reads the pieces of a document and records whether it is complete. Mistakes before its end are reported by the
    RDF parser.

    >>> whole = Completeness()
    >>> whole.feed(b"<a><b/></a>"); whole.missing()
    >>> cut = Completeness()
    >>> cut.feed(b"<a>\\n<b/>"); cut.missing()
    2
    """

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._given_up = False

    def feed(self, piece: bytes) -> None:
        """Read the next piece."""
        if not self._given_up:
            try:
                self._parser.Parse(piece, False)
            except expat.ExpatError:
                self._given_up = True

    def missing(self) -> int | None:
        """The line on which the document ends too early, None if it is complete."""
        if not self._given_up:
            try:
                self._parser.Parse(b"", True)
            except expat.ExpatError as error:
                return error.lineno if error.code in BREAKS_OFF else None
        return None
