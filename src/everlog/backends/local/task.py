"""A change in one task of one executor, which opens all of a version and changes it by the local engine."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from everlog.backends.asked import ChangeOptions, OtherRules, StagedChange
from everlog.backends.stored import StoredBackend
from everlog.backends.too_much import GivenUp, TooMuchError, attempted, taken
from everlog.backends.written import Sizes, WrittenChange, write_change
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.facts import facts_in
from everlog.ingest.spill import write_parquet
from everlog.kb.change import Change, ChangedRelations
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import Edit
from everlog.kb.saving import next_version
from everlog.kb.stores import open as open_store
from everlog.lang.errors import FactLimitError
from everlog.lang.syntax import Predicate
from everlog.store import Store, schema

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WholeTask:
    """Changes a version of a store; the data files go into the directory ``work``.

    The task gives up if there are more than ``most`` facts, or the worker cannot hold them.
    """

    store: str
    version: int
    asked: StagedChange | OtherRules
    work: str
    most: int
    options: ChangeOptions

    def run(self) -> WrittenChange | GivenUp:
        return attempted(self._carried_out)

    def _carried_out(self) -> WrittenChange:
        max_facts = self.options.max_facts
        gives_up = max_facts is None or self.most < max_facts
        try:
            return self._changed(self.most if gives_up else max_facts)
        except FactLimitError:
            if gives_up:
                raise TooMuchError(f"more than {self.most:,} facts") from None
            raise

    def _changed(self, max_facts: int | None) -> WrittenChange:
        store, work = Store.open(self.store), Path(self.work)
        kb = open_store(store, self.version, max_facts=max_facts, timeout=self.options.timeout)
        kb.warning = lambda found: None  # the driver warns
        change = self._change(kb)
        new = next_version(kb, store, self.options.expand_below)
        assert new.state is not None
        files = write_change(new.facts, work)
        figures = {**new.statistics, "update": asdict(change.stats)}
        sides = change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted
        inserted, deleted, explicit_inserted, explicit_deleted = map(_sizes, sides)
        return WrittenChange(
            files,
            inserted,
            deleted,
            explicit_inserted,
            explicit_deleted,
            change.not_explicit,
            change.stats,
            figures,
            counted=new.state.nr is not None,
            generated=new.state.generated,
            version=replace(
                new,
                statistics=figures,
                facts=(),
                terms=(),
                fact_files=files,
                term_files=_files_of(new.terms, work),
                state=None,
            ),
        )

    def _change(self, kb: KnowledgeBase) -> Change:
        asked = self.asked
        how: dict[str, Any] = {"algorithm": self.options.algorithm, "strategy": self.options.strategy}
        if isinstance(asked, OtherRules):
            return kb.change_rules(asked.add, asked.remove, **how)
        blanks = StoredBlanks.of(kb.dictionary, asked.deleted_from, self.options.on_error)
        delete, unknown = facts_in(asked.delete, kb.dictionary, add=False, blanks=blanks)
        insert, _ = facts_in(asked.insert, kb.dictionary, add=True)
        return kb.update_facts(insert, delete, kinds=asked.insert.kinds, unknown=unknown, **how)


def change_whole(task: WholeTask) -> WrittenChange | GivenUp:
    """Run a task; workers import this."""
    return task.run()


class TaskBackend(StoredBackend):
    """The local back end in one task of Spark, which opens the whole store."""

    needs_spark = True

    def require_possible(self, rows: int) -> None:
        if (rows := self.version.rows + rows) > self.most():
            raise TooMuchError(f"not in one task: {rows:,} rows")

    def _change_facts(self, change: StagedChange) -> WrittenChange:
        return self._changed(change)

    def _change_rules(self, rules: OtherRules, edit: Edit, change: StagedChange) -> WrittenChange:
        return self._changed(rules)

    def _changed(self, asked: StagedChange | OtherRules) -> WrittenChange:
        runner, version, options = self.executors.started(), self.version, self.version.options
        self.require_possible(asked.rows if isinstance(asked, StagedChange) else 0)
        task = WholeTask(version.path, version.info.version, asked, version.directory, self.most(), options)
        found = taken(runner.run(change_whole, [task])[0], "not in one task")
        limit = "local-facts" if options.engine == "auto" else "spark-local-finish"
        log.info("updated in one task: %d rows (%s %d)", version.rows, limit, self.most())
        return found


def _sizes(side: ChangedRelations) -> Sizes:
    """The number of changed facts of each predicate, without zeros."""
    return {p: len(rows) for p, rows in side.items() if isinstance(p, Predicate) and len(rows)}


def _files_of(terms: Iterable[pa.RecordBatch], work: Path) -> tuple[str, ...]:
    """Write batches of terms into files that are sorted by id."""
    tables = (pa.Table.from_batches([batch]).cast(schema.TERMS).sort_by("id") for batch in terms)
    return tuple(write_parquet(table, work, "terms") for table in tables)
