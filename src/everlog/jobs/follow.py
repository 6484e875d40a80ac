"""The changes of a store as they happen: the facts that each new version inserts and deletes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everlog.kb.change import Change, ChangedRelations
from everlog.kb.history import changes_in
from everlog.store import Store


@dataclass(frozen=True)
class Followed:
    """The change of one version; it unpacks as the version, the inserted facts and the deleted facts."""

    version: int
    change: Change

    @property
    def inserted(self) -> ChangedRelations:
        """The facts that the version inserted."""
        return self.change.inserted

    @property
    def deleted(self) -> ChangedRelations:
        """The facts that the version deleted."""
        return self.change.deleted

    def __iter__(self) -> Iterator[Any]:
        return iter((self.version, self.inserted, self.deleted))


def follow(
    store: str | Path,
    from_version: int | None = None,
    *,
    interval: float = 1.0,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Followed]:
    """The changes of every version after ``from_version``, by default the newest, as they come.

    Looks for new versions every ``interval`` seconds, until ``stop`` returns True; versions that were committed before
    that are still yielded. Versions that change no fact are left out. Reads only the rows that the
    versions added, takes no locks and starts no Spark.

    >>> import everlog, tempfile
    >>> place = tempfile.mkdtemp() + "/kb"
    >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(a) .")
    >>> kb.save(place)
    0
    >>> change = kb.update(insert={"q": [("b",)]}, delete={"q": [("a",)]})
    >>> kb.save()
    1
    >>> for version, inserted, deleted in follow(place, -1, stop=lambda: True):
    ...     print(version, inserted["p"].rows(), deleted["p"].rows())
    0 [('a',)] []
    1 [('b',)] [('a',)]
    """
    done = Store.open(store).version if from_version is None else from_version
    while True:
        last = stop()
        opened = Store.open(store)
        for version in range(done + 1, opened.version + 1):
            change = changes_in(opened, version - 1, version)
            if change.inserted or change.deleted:
                yield Followed(version, change)
        done = max(done, opened.version)
        if last:
            return
        time.sleep(interval)
