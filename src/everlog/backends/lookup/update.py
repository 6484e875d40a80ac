"""A change of a version by facts that are looked up in the store: one task reads only those that the change touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import ChangeOptions
from everlog.backends.lookup.engine import LookUpEngine
from everlog.backends.lookup.facts import UNIVERSE, LookedUpFacts
from everlog.backends.lookup.opening import opened
from everlog.backends.lookup.rows import REMEMBERED_ROWS, RowReader
from everlog.backends.staged import learn_names
from everlog.backends.stored_version import program_of
from everlog.backends.too_much import GivenUp, attempted
from everlog.backends.working import OpenedVersion, update_version
from everlog.backends.written import Sizes, WrittenChange, write_change
from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.lazy import is_lazy
from everlog.engine.multiset import Counts
from everlog.engine.relation import Relation
from everlog.ingest.room import own_share
from everlog.ingest.spill import Rows, distinct, rows_in
from everlog.lang.syntax import Predicate, constants_of
from everlog.reasoning.seen_change import SeenChange
from everlog.store import Store
from everlog.store.codec import changed_rows
from everlog.store.groups import Groups
from everlog.store.names import HashedNames, namesakes

LOOKED_UP = "looked_up"
"""The name, among the figures of an update, of the number of rows of the store that were read."""


@dataclass
class WorkingLookUps:
    """Implements :class:`everlog.backends.working.WorkingVersion` for facts that are looked up in a store."""

    version: OpenedVersion[FactSet, Counts]
    engine: LookUpEngine
    looked_up: LookedUpFacts
    salt: int
    work: Path

    def sizes(self, facts: AnyFactSet) -> Sizes:
        known = as_local(facts)
        assert not any(map(is_lazy, known.values())), "of what lies elsewhere only a bound is known"
        return {predicate: len(relation) for predicate, relation in known.items() if len(relation)}

    def write(self, seen: SeenChange, sizes: Sizes) -> list[Path]:
        return write_change(changed_rows(seen.rows(), self.looked_up.numbering.ids, self.salt), self.work)


@dataclass(frozen=True)
class LookUpTask:
    """Repairs a version of a store, reading only the facts that it looks up there.

    ``delete``, ``insert`` and ``terms`` are facts and all their terms. The task gives up if it would read
    more than ``options.look_up_rows`` rows of the store, or hold more than ``facts`` facts; where it has less memory
    than usual, the second limit is lower.
    """

    store: str
    version: int
    program: StratifiedProgram
    delete: tuple[Rows, ...]
    insert: tuple[Rows, ...]
    terms: tuple[Rows, ...]
    work: str
    facts: int
    options: ChangeOptions

    def run(self) -> WrittenChange | GivenUp:
        """Update, and write the data file into the work directory. The figures have the number of rows read."""
        return attempted(self._written)

    def _written(self) -> WrittenChange:
        store = Store.open(self.store)
        info = store.info(self.version)
        program = program_of(self.program, info)
        names = HashedNames(program.predicates, info.salt)
        known = frozenset(names.predicates)
        delete, insert = (_table(files) for files in (self.delete, self.insert))
        learn_names(names, _numbers(delete) | _numbers(insert), self.terms)
        others = namesakes(frozenset(names.predicates) - known, store.width(self.version))
        names.add(others)
        files = [str(path) for path in store.fact_paths(self.version)]
        share = own_share()
        rows = RowReader(Groups.of(files), self.options.look_up_rows, int(REMEMBERED_ROWS * share))
        looked_up = LookedUpFacts(rows, {p: names.id(p) for p in names.predicates}, int(self.facts * share))
        version = opened(looked_up, program, info, names.predicates, self.options.algorithm)
        removed, added = (_facts(table, names, looked_up) for table in (delete, insert))
        _refuse_two_arities(version, added, others)
        constants = _constants(program, names, looked_up)
        engine = LookUpEngine(looked_up, constants, info.statistics["facts"], self.options.limits())
        backend = WorkingLookUps(version, engine, looked_up, info.salt, Path(self.work))
        found = update_version(backend, removed, added, self.options)
        return replace(found, figures={**found.figures, "update": {**found.figures["update"], LOOKED_UP: rows.read}})


def look_up(task: LookUpTask) -> WrittenChange | GivenUp:
    """Run a task; workers import this."""
    return task.run()


def _table(staged: Sequence[Rows]) -> pa.Table | None:
    """The different facts among staged ones."""
    return distinct(pa.concat_tables(map(rows_in, staged))) if staged else None


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
    constants = constants_of(rule for stratum in program.strata for rule in stratum.rules)
    numbers = looked_up.numbering.numbers(np.array([names.constant(term) for term in constants], np.int64))
    return dict(zip((term.text for term in constants), numbers.tolist(), strict=True))


def _refuse_two_arities(version: OpenedVersion[FactSet, Counts], insert: FactSet, others: Sequence[Predicate]) -> None:
    """An error if a bare name has several arities in the rules, the store and the change."""
    refuse_two_arities(insert, version.program.program.arities)
    stored = version.materialisation.facts.restricted(others)
    there = [predicate for predicate, relation in stored.items() if len(relation.keys())]
    refuse_two_arities([*there, *insert], {})
