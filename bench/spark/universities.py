"""Universities modelled on LUBM as Parquet files of IRIs, and jobs that materialise and update them on Spark."""

from __future__ import annotations

import json
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
class JobInputs:
    """The input files of a job, and the number of their facts."""

    rules: str
    facts: tuple[str, ...]
    count: int


def write_inputs(universities: int, directory: Path) -> JobInputs:
    """Write the rules and the facts about a number of universities, about 80,000 facts for each, one file for each
    predicate."""
    directory.mkdir(parents=True)
    rules = directory / "rules.rls"
    rules.write_text(lubm.rules())
    facts = lubm.universities(universities, SEED)
    return JobInputs(str(rules), files_of(facts, directory), sum(map(len, facts.values())))


def files_of(facts: Mapping[str, Rows], directory: Path) -> tuple[str, ...]:
    """Write the facts to files, and return them as the arguments of a job (``PREDICATE=PATH``)."""
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


def store_of(universities: int, directory: Path) -> Path:
    return directory / f"store-{universities}"


def materialise_once(universities: int, directory: Path) -> dict[str, Any]:
    """Materialise a number of universities on Spark, unless the directory has them already; return the measurements."""
    record = directory / f"made-{universities}.json"
    if not record.exists():
        given = write_inputs(universities, directory / f"facts-{universities}")
        record.write_text(json.dumps(timed_materialise(given, store_of(universities, directory))))
    results: dict[str, Any] = json.loads(record.read_text())
    return results


def timed_materialise(given: JobInputs, store: Path, engine: str = "spark") -> dict[str, Any]:
    """Materialise in the active session; return total seconds, seconds by phase, and numbers of facts."""
    from everlog.jobs.materialise import MaterialiseJob, materialise

    began = perf_counter()
    result = materialise(MaterialiseJob(given.rules, given.facts, str(store), engine=engine))
    return {
        "seconds": perf_counter() - began,
        "phases": result.seconds,
        "explicit": given.count,
        "facts": result.statistics.facts,
    }


def sizes_of(store: Path, since: int | None = None) -> dict[str, int]:
    """Numbers of data files, row groups, rows and bytes of a store, or of the files added after a version."""
    from everlog.store import Store

    opened = Store.open(str(store))
    before = set() if since is None else {file.name for file in opened.files(since)}
    paths = [opened.layout.facts / file.name for file in opened.files() if file.name not in before]
    footers = [pq.read_metadata(path) for path in paths]
    return {
        "files": len(paths),
        "groups": sum(footer.num_row_groups for footer in footers),
        "rows": sum(footer.num_rows for footer in footers),
        "bytes": sum(path.stat().st_size for path in paths),
    }


def timed_update(store: Path, changes: tuple[tuple[str, ...], tuple[str, ...]], **more: Any) -> dict[str, Any]:
    """Update a store with (facts to delete, facts to insert); return seconds, statistics and the files added."""
    from everlog.jobs.update import UpdateJob, update
    from everlog.store import Store

    before = Store.open(str(store)).info().version
    began = perf_counter()
    result = update(UpdateJob(str(store), delete=changes[0], insert=changes[1], compact=False, **more))
    seconds = perf_counter() - began
    changed = [sum(map(len, facts.values())) for facts in (result.change.inserted, result.change.deleted)]
    return {
        "seconds": seconds,
        "phases": result.seconds,
        "algorithm": result.change.stats.algorithm,
        "overdeleted": result.change.stats.overdeleted,
        "inserted": changed[0],
        "deleted": changed[1],
        "added": sizes_of(store, since=before),
    }


def changes_of(universities: int, directory: Path, size: int, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write a file of facts to delete and one of facts to insert, ``size`` facts each: students change courses."""
    rows = lubm.universities(universities, SEED)["takesCourse"]
    random = np.random.default_rng(seed)
    deleted = rows[random.choice(len(rows), size, replace=False)]
    inserted = np.stack([deleted[:, 0], random.permutation(deleted[:, 1])], axis=1)
    names = (directory / f"delete-{seed}", directory / f"insert-{seed}")
    return files_of({"takesCourse": deleted}, names[0]), files_of({"takesCourse": inserted}, names[1])
