"""The order of a table's columns as arguments of its predicate.

Columns are picked by name if the user names them. Otherwise tables of one predicate with the same names are brought
into the order of the first of them, and tables with other names are an error. Columns without names, and those that
are only numbered, count by position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Place

_NUMBERED = re.compile(r"(c|_c|_|f|column_?)?(0|[1-9][0-9]*)")


@dataclass(frozen=True)
class Header:
    """The names of the columns that became arguments, in the order of the arguments, and the table they come from."""

    names: tuple[str, ...]
    shown: str


Headers = dict[tuple[str, int], Header]
"""The columns of the first table with names, for each predicate and number of arguments."""


@dataclass(frozen=True)
class TableHeader:
    """A table before its rows are read; ``names`` is None if its columns have no names.

    ``shown`` is its name in messages; ``how_to_pick`` returns how to write that columns of it are picked.
    """

    predicate: str
    width: int
    names: tuple[str, ...] | None
    shown: str
    place: Place | None
    how_to_pick: Callable[[Sequence[str]], str]


def order_of(table: TableHeader, picked: Sequence[str], known: Header | None) -> tuple[int, ...]:
    """The number of the column of each argument. ``known`` is the header of an earlier table of the predicate.

    >>> table = TableHeader("edge", 2, ("dst", "src"), "b.csv", None, str)
    >>> order_of(table, (), None), order_of(table, ("src", "dst"), None), order_of(table, ("src",), None)
    ((0, 1), (1, 0), (1,))
    >>> order_of(table, (), Header(("src", "dst"), "a.csv"))
    (1, 0)
    >>> order_of(TableHeader("edge", 2, ("c1", "c0"), "c.csv", None, str), (), Header(("src", "dst"), "a.csv"))
    (1, 0)
    """
    if picked:
        return tuple(_place(table, name) for name in picked)
    names = table.names
    if names is None or len(set(names)) < len(names):
        return tuple(range(table.width))
    if (numbered := _numbered(names)) is not None:
        return numbered
    if known is None or len(known.names) != len(names):
        return tuple(range(table.width))
    if set(names) != set(known.names):
        raise _disagreeing(table, names, known)
    return tuple(names.index(name) for name in known.names)


def header_of(table: TableHeader, order: Sequence[int]) -> Header | None:
    """The names of the columns that became arguments; None if they have none."""
    names = table.names
    if names is None or len(set(names)) < len(names) or _numbered(names) is not None:
        return None
    return Header(tuple(names[place] for place in order), table.shown)


def pick_hint(table: TableHeader, arity: int, known: Header | None = None) -> str | None:
    """A hint how to pick as many columns as there are arguments; None if fewer columns have names."""
    names = table.names
    if names is None or len(names) <= arity:
        return None
    example = known.names if known is not None and set(known.names) <= set(names) else names
    return f"pick columns by name, in the order of the arguments, as in {table.how_to_pick(example[:arity])}"


def _numbered(names: Sequence[str]) -> tuple[int, ...] | None:
    """The order of columns that are only numbered, from 0 or 1; None if they have other names.

    >>> _numbered(["c1", "c0"]), _numbered(["_1", "_2"]), _numbered(["c", "c1"])
    ((1, 0), (0, 1), None)
    """
    found = [_NUMBERED.fullmatch(name) for name in names]
    if not names or not all(found) or len({match[1] for match in found if match}) > 1:
        return None
    numbers = [int(match[2]) for match in found if match]
    for first in (0, 1):
        if sorted(numbers) == list(range(first, first + len(names))):
            return tuple(numbers.index(number) for number in sorted(numbers))
    return None


def _place(table: TableHeader, name: str) -> int:
    if table.names is None:
        message = f"the columns of {table.shown} have no names, so {name!r} cannot be picked"
        hint = "give names to the columns: --header for files whose first row has them, a data frame in Python"
        raise DataError.of(Code.NO_SUCH_COLUMN, message, table.place, hint)
    there = ", ".join(map(repr, table.names))
    if (times := table.names.count(name)) > 1:
        message, hint = f"{times} columns have the name {name!r}: {there}", "give different names to the columns"
        raise DataError.of(Code.NO_SUCH_COLUMN, message, table.place, hint)
    if not times:
        message = f"there is no column {name!r}"
        raise DataError.of(Code.NO_SUCH_COLUMN, message, table.place, f"the columns are {there}")
    return table.names.index(name)


def _disagreeing(table: TableHeader, names: Sequence[str], known: Header) -> DataError:
    mine, other = (", ".join(map(repr, each)) for each in (names, known.names))
    message = (
        f"the columns are {mine}, but those of {known.shown}, which has facts of {table.predicate} too, are {other}"
    )
    hint = f"say which column is which argument, in order, as in {table.how_to_pick(names)}"
    return DataError.of(Code.COLUMN_NAMES, message, table.place, hint)
