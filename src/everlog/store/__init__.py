"""The store: Delta tables of facts and terms, versions, snapshots.

It knows ids, Parquet and Delta, not rules or engines. Readers use :class:`Store`, writers
:func:`begin`.
"""

from everlog.store.cleaning import exists
from everlog.store.snapshot import Snapshot
from everlog.store.store import Store
from everlog.store.transaction import Transaction, begin
from everlog.store.versions import Version, VersionInfo

__all__ = ["Snapshot", "Store", "Transaction", "Version", "VersionInfo", "begin", "exists"]
