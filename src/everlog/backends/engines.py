"""Which engine reasons: with ``auto``, this machine if all facts are expected to fit its memory, otherwise Spark.

Where ``auto`` chooses Spark, Spark chooses again for each stratum, from the sizes that are known by then: the local
engine in one task, or many tasks (:func:`everlog.backends.spark.plans.plan_of`). Both choices compare the expected
need with the memory that the user grants or, without such a setting, with the memory that is free.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.tasks import worker_limit
from everlog.host.memory import free_memory, size_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

BYTES_A_FACT = 30
"""Bytes that a fact takes in the memory of this machine, in two orders and with counters."""

TEXT_FACTOR = 3
"""Bytes of memory that texts of terms take for each byte of the compressed files that they are read from."""

WORKER_MEMORY = 2 << 30
"""Bytes that a Python worker on another host may take, if neither the user nor Spark limits them."""


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


def plan_settings(spark: SparkSession | None, engine: str, memory: int | None, salt: int = 0) -> PlanSettings:
    """The thresholds of plans for the tasks of a session; with ``auto`` small strata are evaluated in one task each.

    Without a session tasks run in this process.
    """
    limit = None if spark is None else worker_limit(spark)
    plans = PlanSettings(salt=salt) if limit is None else PlanSettings(salt=salt).within(limit)
    if engine != "auto":
        return plans
    if memory is None:
        memory = free_memory() if spark is None or _is_here(spark) else WORKER_MEMORY
    return plans.choosing(memory if limit is None else min(memory, limit))


def _is_here(spark: SparkSession) -> bool:
    """Whether tasks run on this machine."""
    return (spark.conf.get("spark.master", None) or "local").startswith("local")
