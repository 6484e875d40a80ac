"""The amount of work done, for displays of progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

SECONDS_BETWEEN = 0.2
"""Seconds between two looks at the work of other processes."""


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount done, the amount in all, and the number of rows done."""

    done: int
    total: int
    unit: Literal["bytes", "rows"]
    rows: int


AmountProgress = Callable[[Amount], None]


def counted(batches: Iterable[pa.RecordBatch], total: int, progress: AmountProgress | None) -> Iterator[pa.RecordBatch]:
    """Pass batches on, and report after each how many of ``total`` rows have passed.

    >>> batch = pa.record_batch({"c0": [1, 2]})
    >>> [b.num_rows for b in counted([batch, batch], 4, lambda amount: print(amount.done, "of", amount.total))]
    2 of 4
    4 of 4
    [2, 2]
    """
    done = 0
    for batch in batches:
        done += batch.num_rows
        if progress is not None:
            progress(Amount(done, total, "rows", done))
        yield batch


@contextmanager
def polled(look: Callable[[], None]) -> Iterator[None]:
    """Call a function every :data:`SECONDS_BETWEEN` seconds until the block ends."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(SECONDS_BETWEEN):
            look()

    thread = threading.Thread(target=go_on, name="everlog-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
