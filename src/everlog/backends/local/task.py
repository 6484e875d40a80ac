"""A change in one task of one executor, which opens all of a version and changes it by the local engine."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from everlog.backends.asked import ChangeOptions, OtherRules, StagedChange
from everlog.backends.stored_version import StoredVersion
from everlog.backends.too_much import GivenUp, TooMuchError, attempted, taken
from everlog.backends.written import NewRules, Sizes, WrittenChange, write_change
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.facts import facts_in
from everlog.ingest.spill import write_parquet
from everlog.ingest.tasks import Runner
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import NextVersion, next_version
from everlog.kb.stores import open as open_store
from everlog.lang.errors import FactLimitError
from everlog.lang.syntax import Predicate
from everlog.store import schema
from everlog.store.codec import change_batches

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
        kb = open_store(self.store, self.version, max_facts=max_facts, timeout=self.options.timeout)
        kb.warning = lambda found: None  # the driver warns
        change = self._change(kb)
        made = next_version(kb, self.options.expand_below)
        sides = (change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted)
        sizes: list[Sizes] = [{_named(p): len(rows) for p, rows in side.items() if len(rows)} for side in sides]
        inserted, deleted, explicit_inserted, explicit_deleted = sizes
        return WrittenChange(
            write_change(change_batches(made.rows, kb.dictionary), Path(self.work)) if change else [],
            inserted,
            deleted,
            explicit_inserted,
            explicit_deleted,
            change.not_explicit,
            change.stats,
            {**made.statistics, "update": asdict(change.stats)},
            counted=made.new.nr is not None,
            generated=made.new.generated,
            rules=self._new_rules(made) if isinstance(self.asked, OtherRules) else None,
        )

    def _change(self, kb: KnowledgeBase) -> Change:
        asked = self.asked
        how: dict[str, Any] = {"algorithm": self.options.algorithm, "strategy": self.options.strategy}
        if isinstance(asked, OtherRules):
            return kb.change_rules(asked.add, asked.remove, **how)
        blanks = StoredBlanks.of(kb.dictionary, asked.deleted_from, self.options.on_error)
        delete, unknown = facts_in(asked.delete, kb.dictionary, add=False, blanks=blanks)
        insert, _ = facts_in(asked.insert, kb.dictionary, add=True)
        return kb.update_facts(insert, delete, kinds={}, unknown=unknown, **how)

    def _new_rules(self, made: NextVersion) -> NewRules:
        terms: tuple[str, ...] = ()
        if made.terms is not None:
            table = pa.Table.from_batches([made.terms]).cast(schema.TERMS).sort_by("id")
            terms = (write_parquet(table, Path(self.work), "terms"),)
        return NewRules(made.rules_text, made.bookkeeping, made.closures, made.modules, terms)


def change_whole(task: WholeTask) -> WrittenChange | GivenUp:
    """Run a task; workers import this."""
    return task.run()


@dataclass(frozen=True)
class InOneTask:
    """Changes a version in one task that opens the whole store; the task may hold ``most`` facts."""

    runner: Runner
    version: StoredVersion
    most: int

    def change(self, asked: StagedChange | OtherRules) -> WrittenChange:
        """Change explicit facts or rules, and repair what follows."""
        version, options = self.version, self.version.options
        rows = version.rows + (asked.rows if isinstance(asked, StagedChange) else 0)
        if rows > self.most:
            raise TooMuchError(f"not in one task: {rows:,} rows")
        task = WholeTask(version.path, version.info.version, asked, version.directory, self.most, options)
        found = taken(self.runner.run(change_whole, [task])[0], "not in one task")
        limit = "local-facts" if options.engine == "auto" else "spark-local-finish"
        log.info("updated in one task: %d rows (%s %d)", rows, limit, self.most)
        return found


def _named(predicate: Any) -> Predicate:
    assert isinstance(predicate, Predicate)
    return predicate
