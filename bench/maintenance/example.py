"""Example 1 of the thesis (section 4.1): a join that is linear forwards and may be quadratic backwards.

S(y, z) follows from R(x, y) and R(x, z). The explicit facts are R(a_i, b) and R(a_i, c_i), and all R(a_i, c_i) are
deleted. A proof of a deleted S(b, c_i) that begins with R(x, b) visits all R(a_i, b).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.maintenance.setting import Setting, UpdateRun
from bench.maintenance.workloads import JOIN, join_facts

COLUMNS = ("dredc", "bfc", "counting", "dred", "fbf")
RUNS = 15
"""Maximum number of runs of an algorithm."""


def example(n: int, cut_off: float) -> dict[str, Any]:
    """The best run of each algorithm; ``seconds`` is None if it was stopped. The algorithms run alternately."""
    facts = join_facts(n)
    setting = Setting(JOIN, facts, "levels")
    delete = setting.encoded({"r": facts["r"][n:].astype(np.int64)})
    runs: dict[str, list[UpdateRun]] = {column: [] for column in COLUMNS}
    for _ in range(RUNS):
        for column, done in runs.items():
            if all(run.done for run in done) and sum(run.seconds for run in done) < cut_off / 2:
                done.append(setting.run(column, setting.state(column), delete=delete, limit=cut_off))
    best = {column: min(done, key=lambda run: run.seconds) for column, done in runs.items()}
    columns = {
        column: {"seconds": run.seconds if run.done else None, "spent": run.seconds, **run.figures()}
        for column, run in best.items()
    }
    return {"n": n, "cut_off": cut_off, "columns": columns}
