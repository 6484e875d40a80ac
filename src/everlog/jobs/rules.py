"""The job that changes the rules of a store: files of rules to add and to remove, into its next version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from types import MappingProxyType

from everlog.jobs.reports import Clock, Report
from everlog.kb.rule_edits import RulesChanged
from everlog.kb.stores import append
from everlog.kb.stores import open as open_store
from everlog.lang.syntax import Program
from everlog.owl.reading import load_program, refuse_ontology
from everlog.reasoning.equality import Equality
from everlog.reasoning.update import Algorithm, Strategy
from everlog.settings import EXPAND_BELOW, WAIT
from everlog.store import Store, begin
from everlog.store.compaction import compact_if_worth


@dataclass(frozen=True)
class RulesJob:
    """What ``everlog rules`` is asked to do: rule files or ontologies whose rules come, and others whose rules go."""

    store: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    expand_below: int = EXPAND_BELOW
    max_facts: int | None = None
    timeout: float | None = None
    memory: int | None = None
    dry_run: bool = False
    compact: bool = True
    wait: float = WAIT
    """Seconds to wait for another writer of the store."""


@dataclass(frozen=True)
class RulesResult:
    """What it did: ``version`` is the one it made, or the old one if nothing changed.

    ``compacted`` is the version that a compaction made after it, if there was one.
    """

    version: int
    change: RulesChanged
    seconds: dict[str, float]
    compacted: int | None = None
    violations: int = 0
    """How many facts say that something contradicts an ontology."""


def change_rules(job: RulesJob, report: Report | None = None) -> RulesResult:
    """Change the rules of a store, repair what follows, and commit the difference; all or nothing."""
    clock = Clock(report or Report())
    with clock.phase("check"):
        Store.open(job.store)
    with begin(job.store, wait=job.wait) as transaction:
        with clock.phase("load"):
            limits = {"max_facts": job.max_facts, "timeout": job.timeout, "max_memory": job.memory}
            kb = open_store(job.store, transaction.base_version, **limits)
        with clock.phase("read"):
            prefixes = kb.program.program.prefixes
            for path in (*job.add, *job.remove):
                refuse_ontology(path, kb.predicates)
            add, remove = (_read(paths, prefixes, kb.equality) for paths in (job.add, job.remove))
        with clock.phase("reason"):
            kb.warning = clock.report.warning
            profile = clock.report.profile or False
            change = kb.change_rules(add, remove, algorithm=job.algorithm, strategy=job.strategy, profile=profile)
            clock.report.loaded()
        assert transaction.base_version is not None
        version, compacted = transaction.base_version, None
        if not job.dry_run:
            with clock.phase("commit"):
                version = append(kb, transaction, {"update": asdict(change.stats)}, expand_below=job.expand_below)
    if job.compact and version != transaction.base_version:
        with clock.phase("compact"):
            compacted = compact_if_worth(job.store, version, clock.report.warning)
    return RulesResult(version, change, clock.seconds, compacted, kb.statistics.violations)


def _read(paths: Iterable[str], prefixes: Mapping[str, str], equality: Equality) -> Program:
    """The programs of files as one."""
    parts = [load_program(path, equality=equality, prefixes=prefixes) for path in paths]
    return Program(
        tuple(chain.from_iterable(part.rules for part in parts)),
        tuple(chain.from_iterable(part.facts for part in parts)),
        MappingProxyType({name: iri for part in reversed(parts) for name, iri in part.prefixes.items()}),
        tuple(chain.from_iterable(part.data for part in parts)),
    )
