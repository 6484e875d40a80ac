"""The job that changes the rules of a store: files of rules to add and to remove, into its next version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

from everlog.analysis.check import CheckedProgram, check
from everlog.backends.engines import plan_settings
from everlog.backends.repaired import Repaired
from everlog.backends.spark.tasks import SparkRunner
from everlog.backends.spark.whole import OtherRules
from everlog.jobs.change_job import ChangeJob, ChangeResult, RowsRead
from everlog.jobs.changing import carry_out
from everlog.jobs.reports import Clock, Report
from everlog.jobs.spark_updates import (
    change_of,
    commit,
    in_one_task,
    most_in_one_task,
    require_one_task,
    started,
    updatable,
)
from everlog.kb.history import known_in
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged
from everlog.lang.parser import parse_stored
from everlog.lang.syntax import Predicate, Program
from everlog.owl.reading import load_program, refuse_ontology
from everlog.reasoning.equality import Equality
from everlog.store import Store, Transaction, VersionInfo

RulesResult = ChangeResult[RulesChanged]


@dataclass(frozen=True)
class RulesJob(ChangeJob):
    """The options of ``everlog rules``: rule files or ontologies whose rules are added, and others whose rules are
    removed.
    """

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def change_rules(job: RulesJob, report: Report | None = None) -> RulesResult:
    """Change the rules of a store, repair what follows, and commit the difference."""
    return carry_out(job, AskedRules(job), report or Report())


@dataclass(frozen=True)
class AskedRules:
    """A request to add the rules of some files and remove those of others."""

    job: RulesJob

    def here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[RulesChanged, RowsRead]:
        """Read the rules and change those of a knowledge base."""
        job, report = self.job, clock.report
        with clock.phase("read"):
            add, remove = self._programs(kb.program.program, kb.predicates, kb.equality)
        with clock.phase("reason"):
            how: dict[str, Any] = {"algorithm": job.algorithm, "strategy": job.strategy}
            change = kb.change_rules(add, remove, **how, profile=report.profile or False)
            report.loaded()
        return change, RowsRead()

    def there(self, transaction: Transaction, clock: Clock) -> RulesMadeThere:
        """Read the rules, and change those of the version in one task of Spark."""
        job, info = self.job, transaction.base
        assert info is not None
        with clock.phase("check"):
            program = updatable(job, info)
        with clock.phase("read"):
            add, remove = self._programs(program.program, known_in(info), info.statistics.get("equality", "off"))
        store, work = Store.open(job.store), transaction.work
        require_one_task(store, info, most_in_one_task(job, plan_settings(None, job.engine, job.memory, info.salt)))
        spark = started(job, clock)
        most = most_in_one_task(job, plan_settings(spark, job.engine, job.memory, info.salt))
        with clock.phase("reason"):
            rules = OtherRules(add, remove, job.algorithm, job.strategy)
            found = in_one_task(SparkRunner(spark), job, store, info, rules, work, most)
            assert found.rules is not None
            for warning in found.rules.warnings:
                clock.report.warning(warning)
            clock.report.loaded()
        return RulesMadeThere(info, found)

    def _programs(
        self, program: CheckedProgram, predicates: Sequence[Predicate], equality: Equality
    ) -> tuple[Program, Program]:
        """The rules to add, and the rules to remove."""
        job = self.job
        for path in (*job.add, *job.remove):
            refuse_ontology(path, predicates)
        return _read(job.add, program.prefixes, equality), _read(job.remove, program.prefixes, equality)


@dataclass(frozen=True)
class RulesMadeThere:
    """A change of the rules of a version by a task of Spark, of which this process knows only the numbers."""

    info: VersionInfo
    found: Repaired
    read: RowsRead = field(default_factory=RowsRead)

    @property
    def change(self) -> RulesChanged:
        assert self.found.rules is not None
        return RulesChanged.of(change_of(self.found, self._predicates, self.info.prefixes), self.found.rules.texts)

    @property
    def violations(self) -> int:
        found: int = self.found.figures["violations"]
        return found

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        if not self.found:
            return self.info.version
        return commit(transaction, self.info, self.found, figures=figures, positions=positions)

    @property
    def _predicates(self) -> list[Predicate]:
        """The predicates of the rules before and after the change."""
        assert self.found.rules is not None
        return [*known_in(self.info), *check(parse_stored(self.found.rules.rules, "rules")).predicates]


def _read(paths: Iterable[str], prefixes: Mapping[str, str], equality: Equality) -> Program:
    """The programs of files, joined into one."""
    parts = [load_program(path, equality=equality, prefixes=prefixes) for path in paths]
    return Program(
        tuple(chain.from_iterable(part.rules for part in parts)),
        tuple(chain.from_iterable(part.facts for part in parts)),
        MappingProxyType({name: iri for part in reversed(parts) for name, iri in part.prefixes.items()}),
        tuple(chain.from_iterable(part.data for part in parts)),
    )
