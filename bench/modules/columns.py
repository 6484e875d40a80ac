"""All pairs of a compact relation as dictionary-encoded Arrow columns, as users read them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pyarrow as pa

from bench.modules.setting import Setting
from bench.modules.workloads import WORKLOADS
from everlog.engine.dictionary import Dictionary
from everlog.lang.syntax import Predicate
from everlog.query.answers import Rows


def columns(workload: str, size: int) -> dict[str, Any]:
    """Seconds to count the pairs, and to list them with the nodes' names in a dictionary."""
    chosen = WORKLOADS[workload]
    setting = Setting(chosen.rules, chosen.facts(size), "compact")
    step = setting.materialised()
    assert step.state is not None
    pairs = step.state.facts[Predicate(chosen.closure, 2)]
    names = Dictionary()
    names.encode(pa.array([f'"node {number}"' for number in range(setting.universe)]))
    Rows(names, pairs, ("x", "y")).to_arrow(dictionary=True)
    began = perf_counter()
    count = len(pairs)
    counted = perf_counter() - began
    began = perf_counter()
    table = Rows(names, pairs, ("x", "y")).to_arrow(dictionary=True)
    listed = perf_counter() - began
    if len(table) != count:
        raise RuntimeError(f"{len(table):,} pairs listed, {count:,} counted")
    return {"workload": workload, "pairs": count, "count": counted, "list": listed, "bytes": table.nbytes}
