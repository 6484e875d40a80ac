"""An update in one task of one executor, by the local engine, for stores that fit there."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everlog.backends.repaired import Repaired, Sizes
from everlog.backends.spark.write import write_change
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged
from everlog.kb.change import Change
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Predicate
from everlog.reasoning.update import Algorithm, Strategy
from everlog.store import Store
from everlog.store.codec import change_batches


@dataclass(frozen=True)
class UpdateTask:
    """Repairs a version of a store; gives what :func:`everlog.backends.spark.update.update_on_spark` does.

    The task gives up, and gives None, if more than ``most`` facts come to light, or the worker cannot hold them.
    """

    store: str
    version: int
    deleted: Staged
    inserted: Staged
    deleted_from: tuple[Split, ...]
    work: str
    most: int
    on_error: str = "stop"
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    max_facts: int | None = None
    timeout: float | None = None

    def run(self) -> Repaired | None:
        """Do it; the data file goes into the work directory."""
        gives_up = self.max_facts is None or self.most < self.max_facts
        try:
            return self._repaired(self.most if gives_up else self.max_facts)
        except LimitError as error:
            if gives_up and error.diagnostics[0].code == "max-facts":
                return None
            raise
        except MemoryError:
            return None

    def _repaired(self, max_facts: int | None) -> Repaired:
        from everlog.ingest.facts import facts_in
        from everlog.kb.saving import changed_rows
        from everlog.kb.stores import open as open_store

        kb = open_store(self.store, self.version, max_facts=max_facts, timeout=self.timeout)
        assert kb.saved is not None
        dictionary, old = kb.state().dictionary, kb.saved.kept.state
        blanks = StoredBlanks.of(dictionary, self.deleted_from, self.on_error)
        delete, unknown = facts_in(self.deleted, dictionary, add=False, blanks=blanks)
        insert, _ = facts_in(self.inserted, dictionary, add=True)
        how: dict[str, Any] = {"algorithm": self.algorithm, "strategy": self.strategy}
        change = kb.update_facts(insert, delete, kinds={}, unknown=unknown, **how)
        new = kb.stored(old.generated)
        signed = changed_rows(kb, Store.open(self.store), old, new)
        files = write_change(change_batches(signed, new.dictionary), Path(self.work)) if change else []
        statistics = dataclasses.replace(kb.statistics, instances=kb.work).as_dict()
        figures = {**statistics, "listed": new.rows.count, "update": asdict(change.stats)}
        return _repaired(change, files, figures, new.nr is not None)


def run_update(task: UpdateTask) -> Repaired | None:
    """Run a task; workers import this."""
    return task.run()


def _repaired(change: Change, files: list[Path], figures: dict[str, Any], counted: bool) -> Repaired:
    sides = (change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted)
    sizes: list[Sizes] = [{_named(p): len(rows) for p, rows in side.items() if len(rows)} for side in sides]
    inserted, deleted, won, lost = sizes
    return Repaired(files, inserted, deleted, won, lost, change.not_explicit, change.stats, figures, counted)


def _named(predicate: object) -> Predicate:
    assert isinstance(predicate, Predicate)
    return predicate
