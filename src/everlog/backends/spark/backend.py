"""The Spark back end: executors read a version of a store, reason, and write the change; or make a first version."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import BeginningOptions, OtherRules, StagedChange
from everlog.backends.executors import Executors
from everlog.backends.protocol import InputReader, Made, Named, RowsRead
from everlog.backends.spark.on_spark import OnSpark
from everlog.backends.spark.settings import SparkSettings, plan_settings
from everlog.backends.stored import StoredBackend, change_of
from everlog.backends.stored_version import program_of
from everlog.backends.too_much import TooMuchError
from everlog.backends.written import WrittenChange
from everlog.ingest.named import with_empty
from everlog.ingest.stage import Staged
from everlog.kb.change import Change
from everlog.kb.reasoner import arranged
from everlog.kb.rule_edits import Edit
from everlog.kb.saving import NewVersion, bookkeeping_of
from everlog.kb.stores import statistics_of
from everlog.lang.errors import Diagnostic, abridged
from everlog.lang.printer import print_program
from everlog.reasoning.modules.description import closures_of
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.statistics import Listener
from everlog.store import Transaction

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile


log = logging.getLogger(__name__)


@dataclass
class SparkBackend(StoredBackend):
    """Distributes a change of a version over executors."""

    needs_spark: ClassVar[bool] = True
    profile: Profile | None = None

    def require_possible(self, rows: int) -> None:
        if self.version.has_representatives:
            raise TooMuchError("the classes of equal terms are found in one process")
        program_of(self.version.program, self.version.info)

    @property
    def _on_spark(self) -> OnSpark:
        version, spark = self.version, self.executors.session()
        options, salt = version.options, version.info.salt
        settings = SparkSettings(options.local_finish, plan_settings(spark, options.engine, options.memory, salt))
        return OnSpark(spark, version.work, salt, options, settings, self.profile)

    def _change_facts(self, change: StagedChange) -> WrittenChange:
        version, on_spark = self.version, self._on_spark
        log.info("the update is distributed")
        asked = version.with_labels(change, self.executors.started())
        return on_spark.update(version, asked, version.options.probe_rows)

    def _change_rules(self, rules: OtherRules, edit: Edit, change: StagedChange) -> WrittenChange:
        """Derive everything again: where rules change, more than a few facts do."""
        version = self.version
        log.info("the change of rules is distributed, so everything is derived again")
        modules = version.info.modules is not False
        program = arranged(edit.program, version.program.kind, modules)
        found = self._on_spark.derive(version, program, change)
        new = self._with_rules(found, edit, self._given_after(change), self._new_terms(change))
        return replace(found, version=replace(new, closures=closures_of(program, found.generated), modules=modules))


@dataclass
class SparkBeginning:
    """Makes a first version in executors; ``program`` is without modules."""

    program: StratifiedProgram
    options: BeginningOptions
    transaction: Transaction
    executors: Executors
    warn: Callable[[Diagnostic], None]
    listener: Listener
    profile: Profile | None = None

    def read(self, reader: InputReader) -> Staged:
        return reader.stage()

    def derive(self, read: Staged, named: Named, warned: Callable[[], None], *, whole: bool) -> Made[Change]:
        options, given, checked = self.options, GivenFacts(), self.program.program
        given.add(with_empty(read.kinds, named), named)
        for warning in abridged(given.news(checked, whole=whole)):
            self.warn(warning)
        warned()
        program = with_modules(self.program) if options.modules else self.program
        spark = self.executors.session()
        plans = plan_settings(spark, options.engine, options.memory, options.salt)
        settings = SparkSettings(options.local_finish, plans)
        on_spark = OnSpark(spark, self.transaction.work, options.salt, options, settings, self.profile)
        found = on_spark.materialise(program, read, options.maintain, self.listener)
        assert checked.written is not None
        figures = {**found.figures, KINDS: given.stored(checked), "equality": options.equality}
        new = NewVersion(
            "materialise",
            print_program(checked.written),
            figures,
            bookkeeping_of(options.maintain, is_counted=found.counted),
            closures_of(program, found.generated),
            options.modules,
            options.salt,
            fact_files=found.files,
            term_files=read.term_files,
        )
        change = change_of(found, checked.predicates, checked.prefixes)
        return Made(lambda: change, statistics_of(figures), new.commit, read=RowsRead.of(read))
