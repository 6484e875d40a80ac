"""A change in one task of one executor, which opens all of a version and changes it by the local engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from everlog.backends.repaired import NewRules, Repaired, Sizes
from everlog.backends.spark.write import write_change
from everlog.backends.too_much import GivenUp, TooMuchError, attempted
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.facts import facts_in
from everlog.ingest.spill import write_parquet
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.rule_edits import RulesChanged
from everlog.kb.saving import next_version
from everlog.kb.stores import open as open_store
from everlog.lang.errors import Diagnostic, FactLimitError
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.names import Algorithm, Strategy
from everlog.settings import EXPAND_BELOW
from everlog.store import schema
from everlog.store.codec import change_batches


class AskedOfWhole(Protocol):
    """A change of a version that is opened as a whole; it can be sent to a worker."""

    def carry_out(self, kb: KnowledgeBase) -> Change:
        """Make the change, and return what it changed."""


@dataclass(frozen=True)
class StagedFacts:
    """Facts in files to delete and to insert; ``deleted_from`` are the inputs from which those to delete were read."""

    delete: Staged
    insert: Staged
    deleted_from: tuple[Split, ...] = ()
    on_error: str = "stop"
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"

    def carry_out(self, kb: KnowledgeBase) -> Change:
        blanks = StoredBlanks.of(kb.dictionary, self.deleted_from, self.on_error)
        delete, unknown = facts_in(self.delete, kb.dictionary, add=False, blanks=blanks)
        insert, _ = facts_in(self.insert, kb.dictionary, add=True)
        how: dict[str, Any] = {"algorithm": self.algorithm, "strategy": self.strategy}
        return kb.update_facts(insert, delete, kinds={}, unknown=unknown, **how)


@dataclass(frozen=True)
class OtherRules:
    """Rules to add and rules to remove."""

    add: Program
    remove: Program
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"

    def carry_out(self, kb: KnowledgeBase) -> RulesChanged:
        return kb.change_rules(self.add, self.remove, algorithm=self.algorithm, strategy=self.strategy)


@dataclass(frozen=True)
class WholeTask:
    """Changes a version of a store; the data files go into the directory ``work``.

    The task gives up if there are more than ``most`` facts, or the worker cannot hold them.
    """

    store: str
    version: int
    asked: AskedOfWhole
    work: str
    most: int
    max_facts: int | None = None
    timeout: float | None = None
    expand_below: int = EXPAND_BELOW

    def run(self) -> Repaired | GivenUp:
        return attempted(self._carried_out)

    def _carried_out(self) -> Repaired:
        gives_up = self.max_facts is None or self.most < self.max_facts
        try:
            return self._repaired(self.most if gives_up else self.max_facts)
        except FactLimitError:
            if gives_up:
                raise TooMuchError(f"more than {self.most:,} facts") from None
            raise

    def _repaired(self, max_facts: int | None) -> Repaired:
        kb = open_store(self.store, self.version, max_facts=max_facts, timeout=self.timeout)
        warnings: list[Diagnostic] = []
        kb.warning = warnings.append
        change = self.asked.carry_out(kb)
        made = next_version(kb, self.expand_below)
        files = write_change(change_batches(made.rows, kb.dictionary), Path(self.work)) if change else []
        figures = {**made.statistics, "update": asdict(change.stats)}
        sides = (change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted)
        sizes: list[Sizes] = [{_named(p): len(rows) for p, rows in side.items() if len(rows)} for side in sides]
        rules = None
        if isinstance(change, RulesChanged):
            terms = () if made.terms is None else (self._written(made.terms),)
            texts = change.rules_added, change.rules_removed, change.rules_known
            how = made.bookkeeping, made.closures, made.modules
            rules = NewRules(made.rules_text, *how, terms, texts, tuple(warnings))
        inserted, deleted, explicit_inserted, explicit_deleted = sizes
        return Repaired(
            files,
            inserted,
            deleted,
            explicit_inserted,
            explicit_deleted,
            change.not_explicit,
            change.stats,
            figures,
            counted=made.new.nr is not None,
            rules=rules,
        )

    def _written(self, terms: pa.RecordBatch) -> str:
        """Write a file of terms, and return its path."""
        return write_parquet(pa.Table.from_batches([terms]).cast(schema.TERMS).sort_by("id"), Path(self.work), "terms")


def change_whole(task: WholeTask) -> Repaired | GivenUp:
    """Run a task; workers import this."""
    return task.run()


def _named(predicate: object) -> Predicate:
    assert isinstance(predicate, Predicate)
    return predicate
