"""The job that changes the rules of a store: files of rules to add and to remove, into its next version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import OtherRules
from everlog.backends.protocol import Backend, Made
from everlog.jobs.change_job import ChangeJob, ChangeResult
from everlog.jobs.change_request import ChangeRequest
from everlog.jobs.changing import carry_out
from everlog.jobs.reports import Report
from everlog.kb.rule_edits import RulesChanged
from everlog.lang.syntax import Predicate, Program
from everlog.owl.reading import load_program, refuse_ontology
from everlog.reasoning.equality import Equality

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

    def made_by(self, backend: Backend) -> Made[RulesChanged]:
        with self.clock.phase("read"):
            rules = self._read(backend.program, backend.predicates, backend.equality)
        with self.clock.phase("reason"):
            return backend.change_rules(rules, self.warned)

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
