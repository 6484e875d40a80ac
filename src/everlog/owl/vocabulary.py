"""The names of RDF, RDFS, OWL 2 and SWRL, as texts of constants."""

from __future__ import annotations

from types import MappingProxyType

from everlog.lang import internal
from everlog.lang.internal import EVERLOG

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SWRL = "http://www.w3.org/2003/11/swrl#"

PREFIXES = MappingProxyType({"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "everlog": EVERLOG})
"""The prefixes of every program that is made from an ontology."""

VIOLATION = internal.VIOLATION.name
"""The name of the predicate of violations: an individual and the text of the axiom that it contradicts."""


def rdf(name: str) -> str:
    """The text of a name of RDF.

    >>> rdf("nil")
    '<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>'
    """
    return f"<{RDF}{name}>"


def rdfs(name: str) -> str:
    return f"<{RDFS}{name}>"


def owl(name: str) -> str:
    return f"<{OWL}{name}>"


def swrl(name: str) -> str:
    return f"<{SWRL}{name}>"


TYPE, FIRST, REST, NIL = rdf("type"), rdf("first"), rdf("rest"), rdf("nil")
THING, NOTHING = owl("Thing"), owl("Nothing")
TOP_PROPERTIES = frozenset({owl("topObjectProperty"), owl("topDataProperty")})
BOTTOM_PROPERTIES = frozenset({owl("bottomObjectProperty"), owl("bottomDataProperty")})
SAME, DIFFERENT = owl("sameAs"), owl("differentFrom")
LITERAL = rdfs("Literal")

BUILT_IN_ANNOTATIONS = frozenset(
    [rdfs(name) for name in ("label", "comment", "seeAlso", "isDefinedBy")]
    + [
        owl(name)
        for name in ("deprecated", "versionInfo", "priorVersion", "backwardCompatibleWith", "incompatibleWith")
    ]
)
"""The annotation properties that need no declaration."""

DATATYPES = frozenset({rdf("PlainLiteral"), rdf("XMLLiteral"), rdf("langString"), LITERAL})
"""The datatypes outside XML Schema that need no declaration; OWL's own are recognised by their names."""


def is_iri(text: str) -> bool:
    """Whether a constant is an IRI.

    >>> is_iri("<http://e.org/a>"), is_iri("_:b"), is_iri('"<a>"')
    (True, False, False)
    """
    return text.startswith("<")


def is_blank(text: str) -> bool:
    return text.startswith("_:")


def is_literal(text: str) -> bool:
    return not text.startswith(("<", "_:"))


def is_datatype_name(text: str) -> bool:
    """Whether an IRI names a datatype by itself, without a declaration.

    >>> is_datatype_name(f"<{XSD}int>"), is_datatype_name(owl("Thing"))
    (True, False)
    """
    return text.startswith(f"<{XSD}") or text in DATATYPES or text in (owl("real"), owl("rational"))
