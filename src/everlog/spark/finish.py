"""The end of a loop in the local engine, in one task of one executor, when what is left fits there."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.stratify import Stratum
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column, columns_of
from everlog.engine.limits import Limits
from everlog.engine.match import Engine, RuleSet
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Constant, Predicate, Rule
from everlog.spark.factset import FrameSet
from everlog.spark.sharing import Numbering, fact_set, in_one_task
from everlog.spark.workspace import Stored, Workspace

FRESH = "fresh"

BLOCK = 1 << 20
"""So many facts are written at a time."""


@dataclass(frozen=True)
class Finished:
    """What a task has derived, and how many instances and rounds that took."""

    stored: Stored
    instances: int
    rounds: int


def fits(stratum: Stratum, facts: FrameSet, most: int) -> bool:
    """Whether what the recursive rules of a stratum read and derive has at most so many facts."""
    return sum(facts.sizes.get(p, 0) for p in concerned(stratum)) <= most


def concerned(stratum: Stratum) -> list[Predicate]:
    """The predicates of the recursive rules."""
    return list(dict.fromkeys(atom.predicate for rule in stratum.recursive for atom in (rule.head, *rule.body)))


def finish(space: Workspace, stratum: Stratum, facts: FrameSet, delta: FrameSet, most: int) -> Finished | None:
    """The facts that follow and are not there yet, or None if there are more than so many with those there are."""
    from pyspark.sql import functions as F

    rows = delta.frame().withColumn(FRESH, F.lit(True))
    old = (facts - delta).restricted(concerned(stratum))
    if isinstance(old, FrameSet):
        rows = rows.unionAll(old.frame().withColumn(FRESH, F.lit(False)))
    predicates = tuple((space.names.id(p), p) for p in {*concerned(stratum), *delta.possible})
    terms = [term for rule in stratum.recursive for atom in (rule.head, *rule.body) for term in atom.terms]
    constants = {term.text: space.names.constant(term) for term in terms if isinstance(term, Constant)}
    task = _Finish(stratum.recursive, predicates, constants, most, str(space.directory), tuple(space.keys))
    space.jobs += 1
    found = in_one_task(rows, task)
    if found is None:
        return None
    files, sizes, instances, rounds = found
    return Finished(Stored(files, {space.names.predicate(n): size for n, size in sizes.items()}), instances, rounds)


_Found = tuple[tuple[str, ...], dict[int, int], int, int]


@dataclass(frozen=True)
class _Finish:
    rules: tuple[Rule, ...]
    predicates: tuple[tuple[int, Predicate], ...]
    constants: Mapping[str, int]
    most: int
    directory: str
    keys: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> _Found | None:
        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return (), {}, 0, 0
        old, delta, numbering = self._facts(pa.Table.from_batches(rows))
        named = np.array(list(self.constants.values()), np.int64)
        numbers = dict(zip(self.constants, numbering.numbers_of(named).tolist(), strict=True))
        engine = Engine(numbering.universe, numbers, limits=Limits(self.most), threads=1)
        try:
            found = _closed(engine, RuleSet(self.rules), old, delta)
        except LimitError:
            return None
        files, sizes = self._written(found, numbering)
        return files, sizes, engine.work.instances["forward"], len(found)

    def _facts(self, rows: pa.Table) -> tuple[FactSet, FactSet, Numbering]:
        """The facts known before and the newest, over one numbering."""
        tags = rows.column("predicate").to_numpy()
        fresh = rows.column(FRESH).to_numpy()
        columns = [rows.column(name).to_numpy() for name in self.keys[1:]]
        chosen = [
            np.flatnonzero((tags == n) & (fresh == is_new)) for is_new in (False, True) for n, _ in self.predicates
        ]
        parts = [[column[at] for column in columns] for at in chosen]
        names = [Predicate(f"{is_new} {p.name}", p.arity) for is_new in (0, 1) for _, p in self.predicates]
        found, numbering = fact_set(names, parts, more=np.array(list(self.constants.values()), np.int64))
        split = [
            {p: found.relation(Predicate(f"{new} {p.name}", p.arity)) for _, p in self.predicates} for new in (0, 1)
        ]
        return FactSet(split[0]), FactSet(split[1]), numbering

    def _written(self, found: Sequence[FactSet], numbering: Numbering) -> tuple[tuple[str, ...], dict[int, int]]:
        """Write the facts of some sets, block by block: memory that is new to a process costs more than the copying."""
        ids = {predicate: number for number, predicate in self.predicates}
        sizes: Counter[int] = Counter()
        if not found:
            return (), {}
        path = f"{self.directory}/{uuid.uuid4().hex}.parquet"
        schema = pa.schema([(name, pa.int64()) for name in self.keys])
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["predicate"]) as writer:
            for predicate, relation in (pair for facts in found for pair in facts.items()):
                sizes[ids[predicate]] += len(relation)
                keys = relation.keys()
                for start in range(0, len(keys), BLOCK):
                    block = keys[start : start + BLOCK]
                    columns: list[Column] = [np.full(len(block), ids[predicate])]
                    columns += [
                        numbering.ids(column) for column in columns_of(relation.layout, block)[: predicate.arity]
                    ]
                    columns += [np.zeros(len(block), np.int64)] * (len(self.keys) - len(columns))
                    writer.write_table(pa.Table.from_arrays(list(map(pa.array, columns)), schema=schema))
        return (path,), dict(sizes)


def _closed(engine: Engine, rules: RuleSet, facts: FactSet, delta: FactSet) -> list[FactSet]:
    """What follows and is not there yet, round by round."""
    facts, found = facts | delta, list[FactSet]()
    while True:
        engine.held = facts.count
        engine.limits.check(engine.held)
        delta = engine.match(rules, facts, facts, changed=[(delta, NONE)]).facts(without=facts)
        if not delta:
            return found
        facts = facts.extended(delta)
        found.append(delta)
