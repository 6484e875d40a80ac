"""Hidden predicates: those that modules read and users do not see. No name in a program contains a space."""

from __future__ import annotations

from everlog.lang.syntax import Predicate

INTERMEDIATE = " intermediate"


def hidden(predicate: Predicate) -> Predicate:
    """The predicate with what comes from outside the module that derives ``predicate``."""
    return Predicate(f"{predicate.name} external", predicate.arity)


def intermediate(predicate: Predicate) -> Predicate:
    """The predicate of an intermediate state of pairs, which no rule outside the module reads."""
    return Predicate(f"{predicate.name}{INTERMEDIATE}", predicate.arity)


def is_intermediate(predicate: Predicate) -> bool:
    """Whether a predicate is one of an intermediate state."""
    return predicate.name.endswith(INTERMEDIATE)
