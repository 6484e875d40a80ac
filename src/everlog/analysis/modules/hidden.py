"""Hidden predicates: those that modules read and users do not see. No name in a program contains a space."""

from __future__ import annotations

from everlog.lang.syntax import Predicate

INNER = " going on"


def hidden(predicate: Predicate) -> Predicate:
    """The predicate with what comes from outside the module that derives ``predicate``."""
    return Predicate(f"{predicate.name} external", predicate.arity)


def inner(predicate: Predicate) -> Predicate:
    """The predicate of a closure's state whose pairs are not asked for, but start there."""
    return Predicate(f"{predicate.name}{INNER}", predicate.arity)


def is_inner(predicate: Predicate) -> bool:
    """Whether a predicate is one that :func:`inner` makes."""
    return predicate.name.endswith(INNER)
