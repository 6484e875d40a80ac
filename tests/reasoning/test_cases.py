"""Golden cases: ``cases/materialise/<name>/`` has a program, fact files, and the expected facts.

``expected/`` has one file for each bare predicate in the head of a rule; an empty line is the row of
a predicate without arguments. To add a case, add a directory.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.lang.terms import CANONICAL, value_of
from tests.oracle import asp, naive
from tests.oracle.naive import Fact, Row
from tests.running import knowledge_base, relation

CASES = sorted(path.parent for path in Path(__file__).parents[1].glob("cases/materialise/*/program.rls"))


def cell_text(cell: str) -> str:
    """The term of a cell of a fact file; these files have no prefixed names and no escapes."""
    quoted = cell.startswith('"') and cell.count('"') > 1
    bare = any(form.fullmatch(cell) for form in CANONICAL.values())
    return cell if bare or quoted or cell.startswith("<") else f'"{cell}"'


def rows(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as lines:
        return [tuple(map(cell_text, row)) for row in csv.reader(lines)]


def tables(directory: Path) -> dict[str, set[Row]]:
    return {path.stem: set(rows(path)) for path in sorted(directory.glob("*.csv"))}


def facts_of(case: Path) -> set[Fact]:
    return {(Predicate(name, len(row)), row) for name, found in tables(case / "facts").items() for row in found}


def program_of(case: Path) -> Program:
    return parse_program((case / "program.rls").read_text(encoding="utf-8"))


def bare_heads(program: Program) -> dict[str, Predicate]:
    heads = (rule.head.predicate for rule in program.rules)
    return {predicate.name: predicate for predicate in heads if not predicate.name.startswith("<")}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_every_head_is_expected(case: Path) -> None:
    assert set(tables(case / "expected")) == set(bare_heads(program_of(case)))


@pytest.mark.parametrize("oracle", [naive.materialise, asp.materialise], ids=["naive", "clingo"])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_oracles_agree(case: Path, oracle: Callable[[Program, set[Fact]], dict[Predicate, set[Row]]]) -> None:
    program = program_of(case)
    found = oracle(program, facts_of(case))
    heads = bare_heads(program)
    assert {name: found.get(predicate, set()) for name, predicate in heads.items()} == tables(case / "expected")


@pytest.mark.parametrize("stratification", ["levels", "single"])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_engine_agrees(case: Path, stratification: str) -> None:
    kb = knowledge_base(str(case / "program.rls"), stratification=stratification)
    for path in sorted((case / "facts").glob("*.csv")):
        kb.insert(path.stem, [tuple(map(value_of, row)) for row in rows(path)])
    heads = bare_heads(program_of(case))
    assert {name: relation(kb, predicate) for name, predicate in heads.items()} == tables(case / "expected")
