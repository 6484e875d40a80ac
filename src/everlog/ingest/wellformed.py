"""Whether an XML document is complete: pyoxigraph takes one that breaks off between two tags for whole."""

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
    """Follows the pieces of a document. What is wrong before its end is for the RDF parser to say.

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
        """Take the next piece."""
        if not self._given_up:
            try:
                self._parser.Parse(piece, False)
            except expat.ExpatError:
                self._given_up = True

    def missing(self) -> int | None:
        """The line on which the document breaks off, None if it does not."""
        if not self._given_up:
            try:
                self._parser.Parse(b"", True)
            except expat.ExpatError as error:
                return error.lineno if error.code in BREAKS_OFF else None
        return None
