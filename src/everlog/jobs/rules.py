"""The job that changes the rules of a store: files of rules to add and to remove, into its next version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

from everlog.jobs.change_job import ChangeJob, ChangeResult, RowsRead
from everlog.jobs.changing import Made, carry_out
from everlog.jobs.reports import Clock, Report
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged
from everlog.lang.errors import EverlogError
from everlog.lang.syntax import Program
from everlog.owl.reading import load_program, refuse_ontology
from everlog.reasoning.equality import Equality
from everlog.store import Transaction

RulesResult = ChangeResult[RulesChanged]


@dataclass(frozen=True)
class RulesJob(ChangeJob):
    """What ``everlog rules`` is asked to do: rule files or ontologies whose rules come, and others whose rules go."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    engine: str = field(default="local", kw_only=True)


def change_rules(job: RulesJob, report: Report | None = None) -> RulesResult:
    """Change the rules of a store, repair what follows, and commit the difference."""
    return carry_out(job, AskedRules(job), report or Report())


@dataclass(frozen=True)
class AskedRules:
    """Rules in files that come, and others that go."""

    job: RulesJob

    def here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[RulesChanged, RowsRead]:
        """Read the rules and change those of a knowledge base."""
        job, report = self.job, clock.report
        with clock.phase("read"):
            prefixes = kb.program.program.prefixes
            for path in (*job.add, *job.remove):
                refuse_ontology(path, kb.predicates)
            add, remove = (_read(paths, prefixes, kb.equality) for paths in (job.add, job.remove))
        with clock.phase("reason"):
            how: dict[str, Any] = {"algorithm": job.algorithm, "strategy": job.strategy}
            change = kb.change_rules(add, remove, **how, profile=report.profile or False)
            report.loaded()
        return change, RowsRead()

    def there(self, transaction: Transaction, clock: Clock) -> Made[RulesChanged]:
        """Refuse: rules are changed by this process."""
        hint = "use --engine local"
        raise EverlogError.of("no-such-engine", "Spark cannot change rules", None, hint)


def _read(paths: Iterable[str], prefixes: Mapping[str, str], equality: Equality) -> Program:
    """The programs of files as one."""
    parts = [load_program(path, equality=equality, prefixes=prefixes) for path in paths]
    return Program(
        tuple(chain.from_iterable(part.rules for part in parts)),
        tuple(chain.from_iterable(part.facts for part in parts)),
        MappingProxyType({name: iri for part in reversed(parts) for name, iri in part.prefixes.items()}),
        tuple(chain.from_iterable(part.data for part in parts)),
    )
