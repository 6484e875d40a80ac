"""Names of the columns of tables of facts, whether these are texts or ids, in memory or in files."""

from __future__ import annotations

from collections.abc import Iterable

PREDICATE = "predicate"
"""The column of predicates."""


def argument_name(position: int) -> str:
    """The column of one argument, counted from 0."""
    return f"c{position}"


def argument_of(name: str) -> int | None:
    """The number of the argument that a column has, None for other columns.

    >>> argument_of("c1"), argument_of("holds")
    (1, None)
    """
    return int(name[1:]) if name[:1] == "c" and name[1:].isdigit() else None


def ids_among(names: Iterable[str]) -> list[str]:
    """The columns that name a fact, among columns of a table."""
    return [name for name in names if name == PREDICATE or argument_of(name) is not None]


def argument_names(width: int) -> list[str]:
    """The columns of arguments in a table for arities up to ``width``.

    >>> argument_names(3)
    ['c0', 'c1', 'c2']
    """
    return [argument_name(position) for position in range(width)]


def fact_columns(width: int) -> list[str]:
    """The columns that name a fact, in the order by which files are sorted.

    >>> fact_columns(2)
    ['predicate', 'c0', 'c1']
    """
    return [PREDICATE, *argument_names(width)]
