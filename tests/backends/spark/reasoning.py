"""Programs run by the Spark engine, with results in the oracle's terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everlog.analysis.check import check
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.workspace import WEIGHT, Workspace
from everlog.engine.algebra import AnyFactSet
from everlog.engine.hashing import hash_text
from everlog.lang.syntax import Constant, Predicate, Program
from everlog.store.names import HashedNames
from tests.oracle.naive import Fact, Row


@dataclass(frozen=True)
class Setup:
    """A program on Spark: its engine, and the texts of ids."""

    program: StratifiedProgram
    engine: SparkEngine
    texts: dict[int, str]

    @property
    def space(self) -> Workspace:
        return self.engine.space

    def facts(self, facts: Iterable[Fact]) -> FrameSet:
        """Send facts to executors, and return them as a set."""
        found = set(facts)
        if not found:
            return FrameSet(self.space)
        names, width = self.space.names, len(self.space.keys) - 1
        salt = names.salt
        self.texts.update({hash_text(text, salt=salt): text for _, row in found for text in row})
        ids = {text: number for number, text in self.texts.items()}
        rows = [(names.id(p), *(ids[text] for text in row), *[0] * (width - len(row))) for p, row in sorted(found)]
        schema = ", ".join(f"{name} long" for name in self.space.keys)
        return FrameSet.of(self.space, self.space.store(self.space.spark.createDataFrame(rows, schema)))

    def listed(self, given: AnyFactSet) -> dict[Predicate, set[Row]]:
        """All facts; checks that no fact is listed twice, and that the sizes are right."""
        found: dict[Predicate, set[Row]] = {}
        facts = framed(self.space, given)
        rows = [tuple(row) for row in facts.frame().collect()]
        assert len(rows) == len(set(rows))
        for number, *ids in rows:
            predicate = self.space.names.predicate(number)
            assert ids[predicate.arity :] == [0] * (len(ids) - predicate.arity)
            found.setdefault(predicate, set()).add(tuple(self.texts[i] for i in ids[: predicate.arity]))
        assert facts.sizes == {p: len(rows) for p, rows in found.items()}
        return found

    def numbers(self, counts: Any) -> Mapping[Fact, int]:
        """All facts with their numbers, without those whose number is zero."""
        if not isinstance(counts, FrameCounts):
            return {}
        found = {}
        for row in counts.frame(counts.possible).where(f"{WEIGHT} != 0").collect():
            number, *ids, weight = row
            predicate = self.space.names.predicate(number)
            found[predicate, tuple(self.texts[i] for i in ids[: predicate.arity])] = weight
        return found


@contextmanager
def setup(
    spark: Any, work: Path, program: Program, more: Iterable[Predicate] = (), kind: Kind = "levels", salt: int = 0
) -> Iterator[Setup]:
    """An engine for a program; its files are removed at the end of the context."""
    stratified = stratify(check(program), kind)
    predicates = {*stratified.program.predicates, *more}
    width = max([2, *(predicate.arity for predicate in predicates)])
    texts = {
        hash_text(term.text, salt=salt): term.text
        for rule in program.rules
        for atom in (rule.head, *rule.body)
        for term in atom.terms
        if isinstance(term, Constant)
    }
    with Workspace(spark, work, HashedNames(predicates, salt), width) as space:
        yield Setup(stratified, SparkEngine(space), texts)
