"""Programs evaluated stratum by stratum: strata with a plan by Spark, others directly from their definition."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.decompose import parts_of
from everlog.analysis.stratify import StratifiedProgram, Stratum, stratify
from everlog.backends.spark.plans import PlanSettings, StratumPlan, close, plan_of
from everlog.engine.hashing import hash_text
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Constant, Predicate, Program
from tests.oracle.naive import Fact, Row, explicit, grouped, heads
from tests.reasoning.modules.outer import with_outer

SMALL = PlanSettings(slices=1)

Known = dict[Predicate, set[Row]]


def stratified(program: Program | str, modules: bool = False, kind: Any = "levels") -> StratifiedProgram:
    parsed = parse_program(program) if isinstance(program, str) else program
    found = stratify(check(parsed), kind)
    return with_outer(found) if modules else found


def parts(program: StratifiedProgram) -> list[Stratum]:
    """The strata, each split into its parts by the recursion of their components."""
    return [part for stratum in program.strata for part in parts_of(stratum)]


def plans(program: StratifiedProgram, known: Known, settings: PlanSettings = SMALL) -> list[StratumPlan]:
    sizes = {predicate: len(rows) for predicate, rows in known.items()}
    return [plan_of(part, sizes, settings) for part in parts(program)]


def frame(session: Any, rows: Iterable[Row], arity: int) -> Any:
    """A DataFrame of ids from rows of texts."""
    schema = ", ".join(f"c{i} long" for i in range(arity))
    return session.createDataFrame([tuple(map(hash_text, row)) for row in rows], schema)


def derived(
    session: Any,
    program: StratifiedProgram,
    facts: Iterable[Fact],
    work: Path,
    settings: PlanSettings = SMALL,
) -> tuple[Known, list[StratumPlan]]:
    """All facts of the program's predicates, and the plans that derived them."""
    given = grouped([*explicit(Program((), program.program.facts)), *facts])
    known = {program.external.get(predicate, predicate): rows for predicate, rows in given.items()}
    text_of = {hash_text(text): text for text in _texts(program.program, known)}
    chosen = []
    for part in parts(program):
        _extend(known, heads(part.nonrecursive, known, known))
        plan = plan_of(part, {predicate: len(rows) for predicate, rows in known.items()}, settings)
        chosen.append(plan)
        if plan.kind in ("rounds", "loop"):
            _loop(known, part, plan)
        elif plan.kind != "nonrecursive" or part.alone is not None:
            known.update(_closed(session, plan, known, work, text_of))
    hidden = set(program.external.values())
    return {p: rows for p, rows in known.items() if rows and p not in hidden}, chosen


def _closed(session: Any, plan: StratumPlan, known: Known, work: Path, text_of: Mapping[int, str]) -> Known:
    frames = {predicate: frame(session, rows, predicate.arity) for predicate, rows in known.items() if predicate.arity}
    closed = close(plan, session, frames, work)
    found: Known = {predicate: set() for predicate in closed}
    numbered = [_numbered(number, predicate, result) for number, (predicate, result) in enumerate(closed.items())]
    rows = [(number, tuple(ids)) for number, ids in functools.reduce(lambda a, b: a.unionAll(b), numbered).collect()]
    assert len(rows) == len(set(rows))
    for number, ids in rows:
        found[list(closed)[number]].add(tuple(text_of[value] for value in ids))
    return found


def _numbered(number: int, predicate: Predicate, result: Any) -> Any:
    """The rows of a predicate with a number, so that those of all predicates can be collected at once."""
    assert result.columns == [f"c{i}" for i in range(predicate.arity)]
    return result.selectExpr(f"{number} as number", f"array({', '.join(result.columns)}) as ids")


def _loop(known: Known, part: Stratum, plan: StratumPlan) -> None:
    rules = part.rules or plan.rules
    for predicate, sources in plan.seeds.items():
        for edge in sources:
            rows = known.get(edge.predicate, set())
            known.setdefault(predicate, set()).update(row[::-1] if edge.inverted else row for row in rows)
    while _extend(known, heads(rules, known, known)):
        pass


def _extend(known: Known, facts: Iterable[Fact]) -> bool:
    before = sum(map(len, known.values()))
    for predicate, row in facts:
        known.setdefault(predicate, set()).add(row)
    return sum(map(len, known.values())) > before


def _texts(program: CheckedProgram, known: Mapping[Predicate, Iterable[Sequence[str]]]) -> set[str]:
    atoms = [atom for rule in program.rules for atom in (rule.head, *rule.body)]
    written = {term.text for atom in atoms for term in atom.terms if isinstance(term, Constant)}
    return written | {text for rows in known.values() for row in rows for text in row}
