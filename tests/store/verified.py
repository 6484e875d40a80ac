"""The checks of ``everlog verify`` that read the files of a store."""

from __future__ import annotations

from everlog.store.store import Store
from everlog.store.verify import damaged_snapshots, verify_tables


def verify(store: Store) -> list[str]:
    """The findings about the store's version and its snapshots."""
    return [*verify_tables(store), *damaged_snapshots(store)]
