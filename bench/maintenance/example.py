"""Example 1 of the thesis (section 4.1): a join that is linear forwards and quadratic backwards.

S(y, z) follows from R(x, y) and R(x, z), there are R(a_i, b) and R(a_i, c_i), and all R(a_i, c_i) are deleted.
Whoever proves the deleted S(b, c_i) by beginning with them meets all R(a_i, b) for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.maintenance.setting import Setting
from bench.maintenance.workloads import JOIN, join_facts

HEADS_FIRST = "dred, heads first"
COLUMNS = ("dredc", "bfc", "counting", "dred", "fbf", HEADS_FIRST)
RUNS = 5


def example(n: int, cut_off: float) -> dict[str, Any]:
    """The best of a few runs of each algorithm, or None for one that was cut off."""
    facts = join_facts(n)
    setting, found = Setting(JOIN, facts, "levels"), {}
    setting.prepare()
    delete = setting.encoded({"r": facts["r"][n:].astype(np.int64)})
    for column in COLUMNS:
        algorithm = column.split(",")[0]
        setting.heads_first = column == HEADS_FIRST
        runs = [setting.run(algorithm, setting.state(algorithm), delete=delete, limit=cut_off)]
        while runs[-1].done is not None and len(runs) < RUNS and sum(run.seconds for run in runs) < cut_off / 2:
            runs.append(setting.run(algorithm, setting.state(algorithm), delete=delete, limit=cut_off))
        best = min(runs, key=lambda run: run.seconds)
        found[column] = {"seconds": best.seconds if best.done else None, "spent": best.seconds, **best.figures()}
    return {"n": n, "cut_off": cut_off, "columns": found}
