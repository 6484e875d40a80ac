"""An update in one task, which looks up in the store the facts that the change touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.lookup.engine import LookUpEngine
from everlog.backends.lookup.facts import UNIVERSE, LookedUpFacts
from everlog.backends.lookup.opening import opened
from everlog.backends.lookup.rows import REMEMBERED_ROWS, RowReader
from everlog.backends.repaired import Repaired, Sizes, repaired
from everlog.backends.spark.encoded import learn_names
from everlog.backends.spark.groups import Groups
from everlog.backends.spark.materialise import predicates_of
from everlog.backends.spark.names import HashedNames, namesakes
from everlog.backends.spark.opening import program_of
from everlog.backends.spark.write import write_change
from everlog.backends.too_much import GivenUp, attempted
from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.lazy import is_lazy
from everlog.engine.limits import Limits
from everlog.engine.relation import Relation
from everlog.ingest.room import own_share
from everlog.ingest.spill import distinct
from everlog.lang.syntax import Constant, Predicate
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.update import update
from everlog.store import Store
from everlog.store.codec import changed_rows
from everlog.store.loading import generated_in

LOOKED_UP = "looked_up"
"""The name, among the figures of an update, of the number of rows of the store that were read."""


@dataclass(frozen=True)
class LookUpTask:
    """Repairs a version of a store, reading only the facts that it looks up there.

    ``delete``, ``insert`` and ``terms`` are files as in :class:`everlog.backends.spark.update.StagedChange`. The task
    gives up if it would read more than ``rows`` rows of the store, or hold more than ``facts`` facts; where it has less
    memory than usual, the second limit is lower.
    """

    store: str
    version: int
    program: StratifiedProgram
    delete: tuple[str, ...]
    insert: tuple[str, ...]
    terms: tuple[str, ...]
    work: str
    rows: int
    facts: int
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    max_facts: int | None = None
    timeout: float | None = None

    def run(self) -> Repaired | GivenUp:
        """Update, and write the data file into the work directory. The figures have the number of rows read."""
        return attempted(self._repaired)

    def _repaired(self) -> Repaired:
        store = Store.open(self.store)
        info = store.info(self.version)
        program = program_of(self.program, info)
        names = HashedNames(predicates_of(program), info.salt)
        known = frozenset(names.predicates)
        delete, insert = (_table(files) for files in (self.delete, self.insert))
        learn_names(names, _numbers(delete) | _numbers(insert), self.terms)
        others = namesakes(frozenset(names.predicates) - known, store.width(self.version))
        names.add(others)
        files = [str(path) for path in store.fact_paths(self.version)]
        share = own_share()
        rows = RowReader(Groups.of(files), self.rows, int(REMEMBERED_ROWS * share))
        looked_up = LookedUpFacts(rows, {p: names.id(p) for p in names.predicates}, int(self.facts * share))
        old = opened(looked_up, program, info, names.predicates, self.algorithm)
        removed, added = (_facts(table, names, looked_up) for table in (delete, insert))
        _refuse_two_arities(program, old, added, others)
        removed, added = removed.renamed(program.external), added.renamed(program.external)
        engine = LookUpEngine(looked_up, _constants(program, names, looked_up), info.statistics["facts"], self._limits)
        done = update(engine, program, old, removed, added, self.algorithm, self.strategy)
        seen = SeenChange(done, program.external, generated_in(info))

        def write(sizes: Sizes) -> list[Path]:
            return write_change(changed_rows(seen.rows(), looked_up.numbering.ids, info.salt), Path(self.work))

        found = repaired(seen, (removed - old.explicit).count, info.statistics, _sizes, write)
        return replace(found, figures={**found.figures, "update": {**found.figures["update"], LOOKED_UP: rows.read}})

    @property
    def _limits(self) -> Limits:
        return Limits.from_now(self.max_facts, self.timeout)


def look_up(task: LookUpTask) -> Repaired | GivenUp:
    """Run a task; workers import this."""
    return task.run()


def _table(files: Sequence[str]) -> pa.Table | None:
    """The different facts of staged files."""
    return distinct(pa.concat_tables(pq.read_table(file, memory_map=True) for file in files)) if files else None


def _numbers(facts: pa.Table | None) -> set[int]:
    """The ids of the predicates of the facts."""
    return set() if facts is None else set(pc.unique(facts.column("predicate")).to_pylist())


def _facts(rows: pa.Table | None, names: HashedNames, looked_up: LookedUpFacts) -> FactSet:
    if rows is None:
        return NONE
    looked_up.require(rows.num_rows)
    ordered, found = rows.sort_by("predicate"), {}
    numbers = ordered.column("predicate").to_numpy()
    columns = [ordered.column(name).fill_null(0).to_numpy() for name in ordered.column_names if name != "predicate"]
    ends = [*(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]
    for start, end in pairwise([0, *ends]):
        predicate = names.predicate(int(numbers[start]))
        dense = [looked_up.numbering.numbers(column[start:end]) for column in columns[: predicate.arity]]
        found[predicate] = Relation.from_columns(dense, UNIVERSE, end - start)
    return FactSet(found)


def _constants(program: StratifiedProgram, names: HashedNames, looked_up: LookedUpFacts) -> dict[str, int]:
    """The numbers of the constants in rules, by their texts."""
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    terms = {term for rule in rules for atom in (rule.head, *rule.body) for term in atom.terms}
    constants = [term for term in terms if isinstance(term, Constant)]
    numbers = looked_up.numbering.numbers(np.array([names.constant(term) for term in constants], np.int64))
    return dict(zip((term.text for term in constants), numbers.tolist(), strict=True))


def _refuse_two_arities(
    program: StratifiedProgram, old: Materialisation, insert: FactSet, others: Sequence[Predicate]
) -> None:
    """An error if a bare name has several arities in the rules, the store and the change."""
    refuse_two_arities(insert, program.program.arities)
    there = [predicate for predicate, relation in old.facts.restricted(others).items() if len(relation.keys())]
    refuse_two_arities([*there, *insert], {})


def _sizes(given: AnyFactSet) -> Sizes:
    facts = as_local(given)
    assert not any(map(is_lazy, facts.values())), "of what lies elsewhere only a bound is known"
    return {predicate: len(relation) for predicate, relation in facts.items() if len(relation)}
