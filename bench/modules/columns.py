"""All pairs of a compact relation as dictionary-encoded Arrow columns."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from bench.modules.setting import Setting
from bench.modules.workloads import WORKLOADS
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate

BLOCK = 1 << 20
LOW = (1 << 32) - 1


def columns(workload: str, size: int) -> dict[str, Any]:
    """Seconds of counting the pairs, and of listing them with the nodes' names in a dictionary."""
    chosen = WORKLOADS[workload]
    setting = Setting(chosen.rules, chosen.facts(size), "compact")
    step = setting.materialised()
    assert step.state is not None
    pairs = step.state.facts[Predicate(chosen.closure, 2)]
    names = pa.array([f"node {number}" for number in range(setting.universe)])
    encoded_columns(pairs, names)
    began = perf_counter()
    count = len(pairs)
    counted = perf_counter() - began
    began = perf_counter()
    table = encoded_columns(pairs, names)
    listed = perf_counter() - began
    if len(table) != count:
        raise RuntimeError(f"{len(table):,} pairs listed, {count:,} counted")
    return {"workload": workload, "pairs": count, "count": counted, "list": listed, "bytes": table.nbytes}


def encoded_columns(pairs: Relation, names: Any) -> Any:
    """The pairs as a table of two columns whose values are in a dictionary."""
    assert pairs.base is not None
    batches = []
    for keys in pairs.base.blocks(0, BLOCK):
        ids = ((keys >> 32).astype(np.int32), (keys & LOW).astype(np.int32))
        arrays = [pa.DictionaryArray.from_arrays(pa.array(column), names) for column in ids]
        batches.append(pa.record_batch(arrays, ["x", "y"]))
    return pa.Table.from_batches(batches)
