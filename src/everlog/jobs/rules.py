"""The job that changes the rules of a store: files of rules to add and to remove, into its next version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import OtherRules
from everlog.backends.elsewhere import Elsewhere
from everlog.jobs.change_job import ChangeJob, ChangeResult, RowsRead
from everlog.jobs.change_request import ChangeRequest
from everlog.jobs.changing import MadeThere, carry_out, change_of
from everlog.jobs.reports import Clock, Report
from everlog.kb.history import known_in
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged, edited, warnings_about
from everlog.lang.errors import abridged
from everlog.lang.syntax import Predicate, Program
from everlog.owl.reading import load_program, refuse_ontology
from everlog.reasoning.equality import Equality
from everlog.store import Transaction

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
    return carry_out(AskedRules(job), report or Report())


class AskedRules(ChangeRequest[RulesChanged]):
    """A request to add the rules of some files and remove those of others."""

    job: RulesJob

    def change_here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[RulesChanged, RowsRead]:
        job, report = self.job, clock.report
        with clock.phase("read"):
            rules = self._read(kb.program.program, kb.predicates, kb.equality)
        with clock.phase("reason"):
            how: dict[str, Any] = {"algorithm": job.algorithm, "strategy": job.strategy}
            change = kb.change_rules(rules.add, rules.remove, **how, profile=report.profile or False)
            self.loaded(clock)
        return change, RowsRead()

    def change_there(self, elsewhere: Elsewhere, transaction: Transaction, clock: Clock) -> MadeThere[RulesChanged]:
        version = elsewhere.version
        info, old = version.info, version.program.program
        with clock.phase("read"):
            rules = self._read(old, known_in(info), info.statistics.get("equality", "off"))
            edit = edited(old, rules.add, rules.remove)
            given = version.given(edit.program.predicates)
            for warning in abridged(warnings_about(edit, old, given, whole=True)):
                self.warn(clock, warning)
            self.loaded(clock)
        with clock.phase("reason"):
            written = elsewhere.change_rules(rules, edit)
        predicates = [*known_in(info), *edit.program.predicates]
        change = RulesChanged.of(change_of(written, predicates, info.prefixes), edit.texts)
        return MadeThere(info, written, change, salt=info.salt)

    def _read(self, program: CheckedProgram, predicates: Sequence[Predicate], equality: Equality) -> OtherRules:
        """The rules to add, and the rules to remove."""
        job = self.job
        for path in (*job.add, *job.remove):
            refuse_ontology(path, predicates)
        return OtherRules(_read(job.add, program.prefixes, equality), _read(job.remove, program.prefixes, equality))


def _read(paths: Iterable[str], prefixes: Mapping[str, str], equality: Equality) -> Program:
    """The programs of files, joined into one."""
    parts = [load_program(path, equality=equality, prefixes=prefixes) for path in paths]
    return Program(
        tuple(chain.from_iterable(part.rules for part in parts)),
        tuple(chain.from_iterable(part.facts for part in parts)),
        MappingProxyType({name: iri for part in reversed(parts) for name, iri in part.prefixes.items()}),
        tuple(chain.from_iterable(part.data for part in parts)),
    )
