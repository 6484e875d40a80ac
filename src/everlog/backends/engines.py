"""Which engine reasons: with ``auto``, this machine if all facts are expected to fit its memory, otherwise Spark.

Where ``auto`` chooses Spark, Spark chooses again for each stratum, from the sizes that are known by then: the local
engine in one task, or many tasks (:func:`everlog.backends.spark.plans.plan_of`). Both choices compare the expected
need with the memory that the user grants or, without such a setting, with the memory that is free.
"""

from __future__ import annotations

import logging

from everlog.backends.spark.plans import PlanSettings
from everlog.host.memory import free_memory, size_text

log = logging.getLogger(__name__)

BYTES_A_FACT = 30
"""Bytes that a fact takes in the memory of this machine, in two orders and with counters."""

TEXT_FACTOR = 3
"""Bytes of memory that texts of terms take for each byte of the compressed files that they are read from."""


def memory_needed(rows: int, texts: int = 0, growth: int = PlanSettings.growth) -> int:
    """Estimate the bytes that reasoning takes on this machine.

    ``rows`` is the number of facts that are read, ``texts`` the bytes of the files of their terms, ``growth`` the
    number of facts expected to follow from each fact.

    >>> memory_needed(1_000_000)
    150000000
    """
    return BYTES_A_FACT * (1 + growth) * rows + TEXT_FACTOR * texts


def needs_spark(needed: int, memory: int | None) -> bool:
    """Whether ``auto`` chooses Spark for a job that needs ``needed`` bytes and may take ``memory``; logs the choice."""
    where = ("local, for all strata", "spark, for strata that do not fit one task")
    return _chosen(needed, memory, *where)


def needs_spark_to_update(rows: int, texts: int, memory: int | None) -> bool:
    """Whether ``auto`` chooses Spark for an update of a store with ``rows`` rows and ``texts`` bytes of terms.

    The store lists the derived facts already, so no growth is expected. The choice is logged.
    """
    return _chosen(memory_needed(rows, texts, growth=0), memory, "local", "spark")


def _chosen(needed: int, memory: int | None, local: str, spark: str) -> bool:
    """Whether more bytes are needed than may be taken; logs the name of the choice, ``local`` or ``spark``."""
    budget = free_memory() if memory is None else memory
    found = needed > budget
    where = spark if found else local
    log.info("engine auto: %s: about %s needed, %s allowed", where, size_text(needed), size_text(budget))
    return found
