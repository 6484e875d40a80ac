"""Changes of a store that this process does not open as a whole: the back ends are tried in turn.

One task repairs the store by facts that it looks up there, unless these are more than ``look-up-rows`` rows or
``spark-local-finish`` facts. Otherwise a store of at most ``spark-local-finish`` rows is changed in one task that opens
it as a whole, and the change of any other is distributed. Spark runs the tasks. With the engine ``auto`` this process
does the look-ups, and Spark is started for large changes, and if look-ups do not suffice.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from everlog.analysis.given import KINDS
from everlog.backends.asked import OtherRules, StagedChange
from everlog.backends.engines import plan_settings
from everlog.backends.local.task import InOneTask
from everlog.backends.lookup.update import LookUps
from everlog.backends.spark.backend import OnSpark
from everlog.backends.spark.opening import program_of
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import SparkRunner, runner_of
from everlog.backends.stored_version import StoredVersion
from everlog.backends.too_much import TooMuchError
from everlog.backends.written import NewRules, WrittenChange
from everlog.ingest.dictionary import new_terms
from everlog.ingest.inputs import staged_program
from everlog.kb.reasoner import arranged
from everlog.kb.rule_edits import Edit
from everlog.lang.internal import LITERAL
from everlog.lang.printer import print_program
from everlog.reasoning.modules.description import closures_of
from everlog.store.codec import COUNTED
from everlog.store.schema import MIN_WIDTH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.backends.spark.plans import PlanSettings
    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


@dataclass
class Elsewhere:
    """Changes a version by look-ups, in one task, or distributed; ``start`` starts Spark when it is needed first."""

    version: StoredVersion
    start: Callable[[], SparkSession]
    spark: SparkSession | None = None
    profile: Profile | None = None

    def require_possible(self) -> None:
        """Raise an error, before anything is read, if the version is too large for a task and cannot be distributed."""
        if self.version.rows > self._most:
            self._require_distributable()

    def change_facts(self, change: StagedChange) -> WrittenChange:
        """Change explicit facts, and repair what follows."""

        @functools.cache
        def labelled() -> StagedChange:
            return self.version.with_labels(change, runner_of(self.spark))

        try:
            look_ups = LookUps(runner_of(self.spark), self.version, self._most)
            look_ups.require_small(change.rows)
            return look_ups.update(labelled())
        except TooMuchError as error:
            log.info("%s", error)
        try:
            return self._in_one_task(change, change.rows)
        except TooMuchError as error:
            log.info("%s, so the update is distributed", error)
        return self._distributed().update(self.version, labelled(), self.version.options.probe_rows)

    def change_rules(self, rules: OtherRules, edit: Edit) -> WrittenChange:
        """Change the rules, and repair what follows, or derive it again. Look-ups would read whole relations."""
        if not edit.added and not edit.removed:
            return self._with_facts_of(edit)
        try:
            return self._in_one_task(rules)
        except TooMuchError as error:
            log.info("%s, so everything is derived again", error)
        version, change = self.version, self._staged(edit)
        modules = version.info.modules is not False
        program = arranged(edit.program, version.program.kind, modules)
        found = self._distributed().derive(version, program, change)
        bookkeeping = COUNTED if found.counted else version.info.bookkeeping
        new = self._new_rules(edit, bookkeeping, closures_of(program, found.generated), modules, change)
        return self._described(replace(found, rules=new), edit, change)

    def _with_facts_of(self, edit: Edit) -> WrittenChange:
        """Change the explicit facts by those of programs whose rules change nothing."""
        info, change = self.version.info, self._staged(edit)
        found = self.change_facts(change)
        bookkeeping = info.bookkeeping if not found else COUNTED if found.counted else "none"
        new = self._new_rules(edit, bookkeeping, info.closures, info.modules, change)
        return self._described(replace(found, rules=new), edit, change)

    def _staged(self, edit: Edit) -> StagedChange:
        """The facts of the programs that an edit removes and adds, with the terms of the new rules."""
        work, salt, program = self.version.work, self.version.info.salt, edit.program
        width = max(
            [MIN_WIDTH, *(p.arity for each in (edit.facts_removed, edit.facts_added, program) for p in each.predicates)]
        )
        delete = staged_program(
            replace(program, rules=()), edit.facts_removed, work, width=width, salt=salt, literals=False
        )
        literals = LITERAL in program.predicates
        insert = staged_program(program, edit.facts_added, work, width=width, salt=salt, literals=literals)
        return StagedChange(delete, insert)

    def _new_rules(
        self,
        edit: Edit,
        bookkeeping: str,
        closures: Sequence[dict[str, Any]],
        modules: bool | None,
        change: StagedChange,
    ) -> NewRules:
        version, runner = self.version, runner_of(self.spark)
        terms = new_terms(runner, change.insert.term_files, version.term_files, version.work, salt=version.info.salt)
        assert edit.program.written is not None
        return NewRules(print_program(edit.program.written), bookkeeping, closures, modules, terms.files)

    def _described(self, found: WrittenChange, edit: Edit, change: StagedChange) -> WrittenChange:
        """The change with the kinds of terms that the explicit facts have after it."""
        given = self.version.given()
        given.add(change.insert.kinds)
        return replace(found, figures={**found.figures, KINDS: given.stored(edit.program)})

    def _in_one_task(self, asked: StagedChange | OtherRules, rows: int = 0) -> WrittenChange:
        """Change in one task that opens the whole store; Spark is started only if it can do the change in some way."""
        if self.version.rows + rows > self._most:
            self._require_distributable()
        return InOneTask(SparkRunner(self.start_spark()), self.version, self._most).change(asked)

    def _distributed(self) -> OnSpark:
        """The back end that distributes a change."""
        self._require_distributable()
        version, spark = self.version, self.start_spark()
        settings = SparkSettings(version.options.local_finish, self._plans)
        return OnSpark(spark, version.work, version.info.salt, version.options, settings, self.profile)

    def _require_distributable(self) -> None:
        """Raise an error if Spark cannot distribute changes of the version."""
        if self.version.has_representatives:
            raise TooMuchError("the classes of equal terms are found in one process")
        program_of(self.version.program, self.version.info)

    def start_spark(self) -> SparkSession:
        """The session of Spark, which is started at the first call."""
        if self.spark is None:
            self.spark = self.start()
        return self.spark

    @property
    def _plans(self) -> PlanSettings:
        options = self.version.options
        return plan_settings(self.spark, options.engine, options.memory, self.version.info.salt)

    @property
    def _most(self) -> int:
        """The maximum number of facts that one task may hold."""
        options = self.version.options
        return self._plans.local_facts if options.engine == "auto" else options.local_finish
