"""The facts of programs as columns of texts."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from everlog.analysis.check import CheckedProgram
from everlog.lang.syntax import Constant, Predicate


def program_columns(program: CheckedProgram) -> Iterator[tuple[Predicate, list[pa.LargeStringArray], int]]:
    """The facts of a program: predicates, columns and numbers of rows; a predicate may occur more than once."""
    rows: dict[Predicate, list[list[str]]] = {}
    for atom in program.facts:
        rows.setdefault(atom.predicate, []).append([t.text for t in atom.terms if isinstance(t, Constant)])
    for predicate, found in rows.items():
        yield predicate, [pa.array(column, pa.large_string()) for column in zip(*found, strict=True)], len(found)
    for each in program.data:
        yield each.predicate, list(each.arrays), len(each)


def facts_in_program(program: CheckedProgram) -> int:
    """The number of facts of a program, in its text and in its columns."""
    return len(program.facts) + sum(map(len, program.data))
