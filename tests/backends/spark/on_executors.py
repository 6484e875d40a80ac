"""Updates of programs on a cluster: ``python -m tests.backends.spark.on_executors MASTER DIRECTORY``.

Golden cases and random programs are materialised and then updated, repeatedly, by Spark and by the local engine;
after every step their stores have equal facts with equal counters. Spark updates one store distributed, and
another by look-ups in one task, as it does by default. Several programs are combined to one, which takes as many
jobs as one of them. Prints the numbers of compared rows as JSON.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.backends.asked import ChangeOptions, StagedChange
from everlog.backends.cascade import ChangedStore, first_able
from everlog.backends.executors import Executors
from everlog.backends.protocol import Made
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.host.session import session
from everlog.ingest.facts import facts_in
from everlog.ingest.spill import Spill
from everlog.ingest.stage import Staged
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.kb.saving import append
from everlog.kb.stores import open as open_store
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_program
from everlog.lang.syntax import Atom, Constant, Predicate
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.names import Algorithm
from everlog.reasoning.strata import close_strata
from everlog.store import Store, begin
from tests.backends.spark.reasoning import setup
from tests.backends.spark.test_known import STEPS, loop_facts
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.reasoning.test_cases import CASES, facts_of, program_of
from tests.store.verified import verify
from tests.strategies import Case, Change, cases, graph_cases, side_by_side

ROUNDS = 1
"""Number of times that random programs are drawn, each time as many as the next constants state."""
ARBITRARY, GRAPHS = 4, 2
STORES = ("local", "spark", "default")
UPDATES: tuple[Algorithm, ...] = ("dredc", "bfc")

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Settings with which no plan is compiled: compiling those of a hundred rules takes longer than running them here."""


def main(master: str, work: Path) -> None:
    spark = session(master, **INTERPRETED, spark__sql__shuffle__partitions=2)
    report: dict[str, Any] = {"master": spark.sparkContext.master, "programs": 0, "compared": []}

    def run(cases: list[Case], algorithms: Sequence[Algorithm]) -> None:
        number = len(report["compared"])
        print(f"{number}: {len(cases)} programs", file=sys.stderr)
        steps = Run(spark, side_by_side(cases), work / str(number), number).steps(algorithms)
        report["compared"].append([])
        for step in steps:
            report["compared"][-1].append(step)
            print(step, file=sys.stderr, flush=True)
        report["programs"] += len(cases)

    given = golden()
    for half, algorithm in zip((given[::2], given[1::2]), UPDATES, strict=True):
        run(half, [algorithm])
    for programs in drawn():
        run(programs, UPDATES)
    report["plans"] = kinds(spark, work)
    print(json.dumps(report))
    session().stop()


CLOSURES = """
far(?x, ?y) :- e(?x, ?y) . far(?x, ?z) :- far(?x, ?y), far(?y, ?z) .
same(?x, ?y) :- e(?x, ?y) . same(?y, ?x) :- same(?x, ?y) . same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""
ALONG = "far(?x, ?y) :- e(?x, ?y) . far(?x, ?z) :- far(?x, ?y), e(?y, ?z) ."


def kinds(spark: Any, work: Path) -> list[list[str]]:
    """The plans of strata, of all kinds."""
    return [
        planned(spark, work, CLOSURES, PlanSettings(), modules=True),
        planned(spark, work, ALONG, PlanSettings()),
        planned(spark, work, STEPS, PlanSettings(shared_facts=1_000)),
        planned(spark, work, STEPS, PlanSettings(shared_facts=0)),
        planned(spark, work, STEPS, PlanSettings(local_facts=1_000)),
    ]


def planned(spark: Any, work: Path, rules: str, plans: PlanSettings, modules: bool = False) -> list[str]:
    """The plan of each stratum of a program; checks the facts that the plans derive."""
    program, facts = parse_program(rules), loop_facts()
    found = stratify(check(program))
    found = with_modules(found) if modules else found
    hidden = found.external.values()
    with setup(spark, work, program, {*hidden, *(p for p, _ in facts)}) as on_spark:
        on_spark.engine.settings = SparkSettings(0, plans)
        derived, statistics = close_strata(on_spark.engine, found, on_spark.facts(facts))
        seen = derived.restricted(p for p in derived if p not in hidden)
        assert on_spark.listed(seen) == naive.materialise(program, facts)
    return [stratum.plan for stratum in statistics.strata]


def golden() -> list[Case]:
    """The golden cases."""
    found = []
    for path in CASES:
        program, facts = program_of(path), frozenset(facts_of(path))
        atoms = [atom for rule in program.rules for atom in (rule.head, *rule.body)]
        predicates = {atom.predicate for atom in (*atoms, *program.facts)} | {p for p, _ in facts}
        domain = {text for _, row in facts for text in row} or {'"a"'}
        found.append(Case(program, facts, tuple(sorted(predicates)), tuple(sorted(domain))))
    return found


def drawn() -> list[list[Case]]:
    """Random programs, drawn from a fixed seed."""
    found: list[list[Case]] = []
    how = settings(deadline=None, derandomize=True, database=None, phases=[Phase.generate])

    @settings(how, max_examples=ROUNDS, suppress_health_check=list(HealthCheck))
    @given(sized(cases(), ARBITRARY), sized(graph_cases(), GRAPHS))
    def each(some: list[Case], graphs: list[Case]) -> None:
        assume(all(len(case.facts) > 4 for case in (*some, *graphs)))
        found.append([*some, *graphs])

    each()
    return found


def sized(drawn: st.SearchStrategy[Case], size: int) -> st.SearchStrategy[list[Case]]:
    return st.lists(drawn, min_size=size, max_size=size)


@dataclass
class Run:
    """A program in three stores, two of which are updated by Spark and one by this process."""

    spark: Any
    case: Case
    place: Path
    seed: int

    def steps(self, algorithms: Sequence[Algorithm]) -> Iterator[dict[str, Any]]:
        """Materialise, then update; yields the number of rows that were compared for each step."""
        self.place.mkdir(parents=True)
        explicit = {*self.case.facts, *naive.explicit(self.case.program)}
        atoms = tuple(Atom(p, tuple(map(Constant, row))) for p, row in sorted(explicit))
        rules = self.place / "rules.rls"
        rules.write_text(print_program(replace(self.case.program, facts=atoms)))
        for name in ("local", "spark"):
            store = str(self.place / name)
            how: dict[str, Any] = {"modules": self.seed % 2 == 0, "stratification": "single" if self.seed else "levels"}
            materialise(MaterialiseJob(str(rules), (), store, engine=name, local_finish=0, **how))
        shutil.copytree(self.place / "spark", self.place / "default")
        yield {"step": "materialise", "rows": self.compared()}
        for change, algorithm in zip(changes(self.case, explicit, random.Random(self.seed)), algorithms, strict=False):
            self.update_here(change, algorithm)
            self.update_on_spark(change, algorithm)
            looked_up = self.update_by_default(change, algorithm)
            explicit = (explicit - change.delete) | change.insert
            sizes = {"deleted": len(change.delete), "inserted": len(change.insert), "looked_up": looked_up}
            yield {"step": algorithm, "rows": self.compared(), **sizes}
        assert verify(Store.open(self.place / "spark")) == []

    def compared(self) -> int:
        """The number of rows in each store; checks that the rows of all stores are equal."""
        here, there, by_default = (self.table(name) for name in STORES)
        assert here == there, (dict(Counter(here) - Counter(there)), self.case)
        assert here == by_default, (dict(Counter(here) - Counter(by_default)), self.case)
        assert len({Store.open(self.place / name).info().statistics["facts"] for name in STORES}) == 1
        return len(here)

    def table(self, name: str) -> list[tuple[Any, ...]]:
        found = [row for batch in Store.open(self.place / name).facts() for row in batch.to_pylist()]
        return [tuple(row.values()) for row in found]

    def staged(self, facts: Iterable[Fact], work: Path) -> Staged:
        """Facts as files of ids and of terms."""
        width = max([2, *(predicate.arity for predicate in self.case.predicates)])
        spill = Spill(work, width)
        for predicate, rows in naive.grouped(facts).items():
            columns = [pa.array(column, pa.large_string()) for column in zip(*sorted(rows), strict=True)]
            names = ["predicate", *(f"c{i}" for i in range(predicate.arity))]
            spill.add(pa.record_batch([pa.array([str(predicate)] * len(rows), pa.large_string()), *columns], names))
        spill.flush()
        return Staged(width, tuple(spill.fact_files), tuple(spill.term_files), spill.rows)

    def update_here(self, change: Change, algorithm: Algorithm) -> None:
        with begin(self.place / "local") as transaction:
            kb = open_store(self.place / "local", transaction.base_version)
            delete, insert = (self.staged(facts, transaction.work) for facts in (change.delete, change.insert))
            deleted, unknown = facts_in(delete, kb.state().dictionary, add=False)
            inserted, _ = facts_in(insert, kb.state().dictionary, add=True)
            kb.update_facts(inserted, deleted, unknown=unknown, algorithm=algorithm)
            append(kb, transaction)

    def update_on_spark(self, change: Change, algorithm: Algorithm) -> None:
        made, _ = self.updated("spark", change, algorithm, local_finish=0, look_up_rows=0)
        assert made.change.stats.algorithm == algorithm

    def update_by_default(self, change: Change, algorithm: Algorithm) -> int | None:
        """How many rows were looked up, if that was how."""
        _, figures = self.updated("default", change, algorithm)
        rows: int | None = figures.get("looked_up")
        return rows

    def updated(
        self, name: str, change: Change, algorithm: Algorithm, **how: Any
    ) -> tuple[Made[Any], Mapping[str, Any]]:
        """Update a store, and commit the change; returns it and its figures."""
        place, options = self.place / name, ChangeOptions(engine="spark", algorithm=algorithm, **how)
        executors = Executors(lambda: self.spark, self.spark)
        with begin(place) as transaction:
            transaction.work.mkdir(parents=True, exist_ok=True)
            delete, insert = (self.staged(facts, transaction.work) for facts in (change.delete, change.insert))
            asked = StagedChange(delete, insert)
            backends = ChangedStore(Store.open(place), transaction, options, executors, lambda found: None).backends
            made = first_able(backends, lambda backend: backend.update(asked, ({}, {}), lambda: None))
            version = made.commit(transaction, {}, None)
        return made, Store.open(place).info(version).statistics["update"]


def changes(case: Case, explicit: set[Fact], rng: random.Random) -> Iterator[Change]:
    """Delete half of the explicit facts, then insert some of them while others are deleted; always insert new ones."""
    deleted: set[Fact] = set()
    for share in (0.5, 0.4, 0.4):
        now = sorted(explicit)
        delete = set(rng.sample(now, int(len(now) * share)))
        insert = {new_fact(case.predicates, case.domain, rng) for _ in range(10)}
        insert |= set(rng.sample(sorted(deleted), len(deleted) // 2))
        deleted |= delete
        yield Change(frozenset(insert), frozenset(delete))
        explicit = (explicit - delete) | insert


def new_fact(predicates: tuple[Predicate, ...], domain: tuple[str, ...], rng: random.Random) -> Fact:
    predicate = rng.choice(predicates)
    return predicate, tuple(rng.choice(domain) for _ in range(predicate.arity))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
