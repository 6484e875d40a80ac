"""Universities in the spirit of LUBM as Parquet files of IRIs, and jobs that materialise and update them on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.maintenance import lubm

Rows = npt.NDArray[np.int64]
GROUP_ROWS = 1 << 18
SEED = 1


@dataclass(frozen=True)
class Given:
    """What a job reads."""

    rules: str
    facts: tuple[str, ...]
    count: int


def written(universities: int, directory: Path) -> Given:
    """The facts about so many universities, about 80,000 for each, one file a predicate, and the rules."""
    directory.mkdir(parents=True)
    rules = directory / "rules.rls"
    rules.write_text(lubm.rules())
    found = lubm.universities(universities, SEED)
    return Given(str(rules), files_of(found, directory), sum(map(len, found.values())))


def files_of(facts: Mapping[str, Rows], directory: Path) -> tuple[str, ...]:
    """Facts as files, by the names that a job takes."""
    directory.mkdir(parents=True, exist_ok=True)
    names = []
    for predicate, rows in facts.items():
        path = directory / f"{predicate}.parquet"
        columns = {f"c{i}": _iris(rows[:, i]) for i in range(rows.shape[1])}
        pq.write_table(pa.table(columns), path, row_group_size=GROUP_ROWS)
        names.append(f"{predicate}={path}")
    return tuple(names)


def _iris(numbers: Rows) -> pa.Array:
    digits = pc.cast(pa.array(np.ascontiguousarray(numbers)), pa.string())
    return pc.binary_join_element_wise("<http://www.university.edu/", digits, ">", "")


def materialised(given: Given, store: Path, **more: Any) -> dict[str, Any]:
    """Materialise on Spark, in the session that is there: seconds in all and by phase, and numbers of facts."""
    from everlog.pipeline.jobs import MaterialiseJob, materialise

    began = perf_counter()
    result = materialise(MaterialiseJob(given.rules, given.facts, str(store), engine="spark", **more))
    return {
        "seconds": perf_counter() - began,
        "phases": result.seconds,
        "explicit": given.count,
        "facts": result.statistics.facts,
    }


def updated(store: Path, changes: tuple[tuple[str, ...], tuple[str, ...]], **more: Any) -> dict[str, Any]:
    """Update a store on Spark by facts to delete and facts to insert."""
    from everlog.pipeline.updates import UpdateJob, update

    began = perf_counter()
    job = UpdateJob(str(store), delete=changes[0], insert=changes[1], engine="spark", compact=False, **more)
    result = update(job)
    return {
        "seconds": perf_counter() - began,
        "phases": result.seconds,
        "algorithm": result.change.stats.algorithm,
        "overdeleted": result.change.stats.overdeleted,
    }


def changes_of(universities: int, directory: Path, size: int, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of so many facts each that leave, or come new: students change what they study."""
    rows = lubm.universities(universities, SEED)["takesCourse"]
    random = np.random.default_rng(seed)
    leaving = rows[random.choice(len(rows), size, replace=False)]
    coming = np.stack([leaving[:, 0], random.permutation(leaving[:, 1])], axis=1)
    names = (directory / f"delete-{seed}", directory / f"insert-{seed}")
    return files_of({"takesCourse": leaving}, names[0]), files_of({"takesCourse": coming}, names[1])
