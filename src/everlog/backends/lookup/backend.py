"""The look-up back end: one task repairs a version by facts that it looks up in the store."""

from __future__ import annotations

import logging

from everlog.backends.asked import OtherRules, StagedChange
from everlog.backends.lookup.update import LOOKED_UP, LookUpTask, look_up
from everlog.backends.stored import StoredBackend
from everlog.backends.too_much import TooMuchError, taken
from everlog.backends.written import WrittenChange
from everlog.kb.rule_edits import Edit

log = logging.getLogger(__name__)


class LookUpBackend(StoredBackend):
    """Changes a version in one task, by facts that it looks up in the store.

    The task gives up if it would read more than ``look-up-rows`` rows of the store. It runs in this process unless
    Spark is started already.
    """

    def require_possible(self, rows: int) -> None:
        options = self.version.options
        if options.look_up_rows == 0 or rows > min(options.look_up_rows, self.most()):
            raise TooMuchError("not by look-ups: the change is large, or everything is to be derived again")
        if options.algorithm == "rematerialise":
            raise TooMuchError("not by look-ups: the change is large, or everything is to be derived again")
        if self.version.has_representatives:
            raise TooMuchError("not by look-ups: the classes of equal terms depend on all facts")

    def _change_facts(self, change: StagedChange) -> WrittenChange:
        version, options = self.version, self.version.options
        asked = version.with_labels(change, self.executors.runner)
        task = LookUpTask(
            version.path,
            version.info.version,
            version.program,
            asked.delete.facts,
            asked.insert.facts,
            (*asked.delete.terms, *asked.insert.terms),
            version.directory,
            self.most(),
            options,
        )
        found = taken(self.executors.runner.run(look_up, [task])[0], "not by look-ups")
        read, rows = found.figures["update"][LOOKED_UP], version.rows
        log.info("updated in one task: %d rows looked up of %d (look-up-rows %d)", read, rows, options.look_up_rows)
        return found

    def _change_rules(self, rules: OtherRules, edit: Edit, change: StagedChange) -> WrittenChange:
        raise TooMuchError("not by look-ups: rules are matched against whole relations")
