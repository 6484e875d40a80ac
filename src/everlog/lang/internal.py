"""Predicates with a meaning of their own: ``triple``, and those in the namespace ``urn:everlog:``.

The programs of ontologies and profiles use the latter internally.
"""

from __future__ import annotations

from everlog.lang.syntax import Predicate

EVERLOG = "urn:everlog:"

TRIPLE = Predicate("triple", 3)
"""The predicate of RDF triples: subject, predicate, object."""

LITERAL = Predicate(f"<{EVERLOG}literal>", 1)
"""The literals of explicit facts; see :mod:`everlog.engine.literals`."""

SAME_NODES = Predicate(f"<{EVERLOG}same>", 2)
"""Pairs of equal resources (not literals), in the program of a profile over triples."""

VIOLATION = Predicate(f"<{EVERLOG}violation>", 2)
"""Violations: an individual, and the text of the axiom or the name of the rule that it contradicts."""


def is_internal(predicate: Predicate) -> bool:
    """Whether a predicate belongs to the program of an ontology or a profile, so that its facts are not the user's.

    >>> is_internal(Predicate("<urn:everlog:subClass>", 2)), is_internal(Predicate("subClass", 2))
    (True, False)
    """
    return predicate.name.startswith(f"<{EVERLOG}")
