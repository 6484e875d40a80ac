"""Hidden predicates: those that modules read and users do not see. No name in a program contains a space."""

from __future__ import annotations

from everlog.lang.syntax import Predicate

INNER = " going on"


def hidden(predicate: Predicate) -> Predicate:
    """The predicate with what comes from outside the module that derives ``predicate``."""
    return Predicate(f"{predicate.name} external", predicate.arity)


def inner(predicate: Predicate) -> Predicate:
    """The predicate of an inner state of pairs, which no rule outside the module reads."""
    return Predicate(f"{predicate.name}{INNER}", predicate.arity)


def is_inner(predicate: Predicate) -> bool:
    """Whether a predicate is one of an inner state."""
    return predicate.name.endswith(INNER)
