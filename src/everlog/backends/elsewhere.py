"""Changes of a store that this process does not open as a whole: the back ends are tried in turn.

One task repairs the store by facts that it looks up there, unless these are more than ``look-up-rows`` rows or
``spark-local-finish`` facts. Otherwise a store of at most ``spark-local-finish`` rows is changed in one task that opens
it as a whole, and the change of any other is distributed. Spark runs the tasks. With the engine ``auto`` this process
does the look-ups, and Spark is started for large changes, and if look-ups do not suffice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import Asked
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

    def change_facts(self, asked: Asked) -> WrittenChange:
        """Change explicit facts, and repair what follows."""
        try:
            return LookUps(runner_of(self.spark), self.version, self._most).update(asked)
        except TooMuchError as error:
            log.info("%s", error)
        try:
            return self._in_one_task(asked)
        except TooMuchError as error:
            log.info("%s, so the update is distributed", error)
        return self._distributed().update(asked)

    def change_rules(self, asked: Asked, edit: Edit) -> WrittenChange:
        """Change the rules, and repair what follows, or derive it again. Look-ups would read whole relations."""
        assert asked.rules is not None
        try:
            return self._in_one_task(asked)
        except TooMuchError as error:
            log.info("%s, so everything is derived again", error)
        return self._derived_again(check(asked.rules.remove), edit)

    def _derived_again(self, removed: CheckedProgram, edit: Edit) -> WrittenChange:
        """Derive everything by the new rules; facts of removed programs cease to be explicit."""
        info, work = self.version.info, self.version.work
        modules = info.modules is not False
        program = arranged(edit.program, self.version.program.kind, modules)
        added = replace(edit.program, facts=edit.facts_added.facts, written=edit.facts_added.written)
        width = max([2, *(p.arity for each in (removed, added) for p in each.predicates)])
        delete = staged_program(replace(removed, rules=()), work, width=width, salt=info.salt, literals=False)
        insert = staged_program(added, work, width=width, salt=info.salt, literals=LITERAL in added.predicates)
        found = self._distributed().derive(program, Asked(delete, insert))
        runner = SparkRunner(self.start_spark())
        terms = new_terms(runner, insert.term_files, self.version.term_files, work, salt=info.salt).files
        assert edit.program.written is not None
        new = NewRules(
            print_program(edit.program.written),
            COUNTED if found.counted else info.bookkeeping,
            closures_of(program, found.generated),
            modules,
            terms,
        )
        return replace(found, rules=new)

    def _in_one_task(self, asked: Asked) -> WrittenChange:
        """Change in one task that opens the whole store; Spark is started only if it can do the change in some way."""
        if self.version.rows + asked.rows > self._most:
            self._distributable()
        return InOneTask(SparkRunner(self.start_spark()), self.version, self._most).change(asked)

    def _distributed(self) -> OnSpark:
        """The back end that distributes a change."""
        self._distributable()
        options = self.version.options
        settings = SparkSettings(options.local_finish, self._plans, probe_rows=options.probe_rows)
        return OnSpark(self.start_spark(), self.version, settings, self.profile)

    def _distributable(self) -> StratifiedProgram:
        """The program as Spark evaluates it; an error if Spark cannot distribute changes of the version."""
        if self.version.has_representatives:
            raise TooMuchError("the classes of equal terms are found in one process")
        return program_of(self.version.program, self.version.info)

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
