"""Predicates that mean something: ``triple``, and those in the namespace ``urn:everlog:``, which programs of ontologies
and profiles have for themselves.
"""

from __future__ import annotations

from everlog.lang.syntax import Predicate

EVERLOG = "urn:everlog:"

TRIPLE = Predicate("triple", 3)
"""Facts of this predicate are triples as they stand."""

LITERAL = Predicate(f"<{EVERLOG}literal>", 1)
"""The literals of explicit facts; see :mod:`everlog.engine.literals`."""

SAME_NODES = Predicate(f"<{EVERLOG}same>", 2)
"""What triples say to be the same, literals left out, in the program of a profile over triples."""

VIOLATION = Predicate(f"<{EVERLOG}violation>", 2)
"""What contradicts an axiom or a rule: an individual, and the axiom's text or the rule's name."""


def is_internal(predicate: Predicate) -> bool:
    """Whether a predicate belongs to the program of an ontology or a profile, so that its facts are not the user's.

    >>> is_internal(Predicate("<urn:everlog:subClass>", 2)), is_internal(Predicate("subClass", 2))
    (True, False)
    """
    return predicate.name.startswith(f"<{EVERLOG}")
