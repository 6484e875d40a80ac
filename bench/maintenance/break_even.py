"""The break-even points (journal paper, section 10.4; thesis, tables 4.3 and 4.4).

For each algorithm, a binary search with uniform samples of one seed finds the number of deleted facts from which
rematerialising is faster. All algorithms are then compared at the larger break-even point of the two algorithms with
counters: they delete that number of facts, and add them again.
"""

from __future__ import annotations

import gc
from time import perf_counter
from typing import Any

from bench.maintenance.samples import Sampler
from bench.maintenance.setting import ALGORITHMS, REMATERIALISE, REMATERIALISE_COUNTED, Setting, UpdateRun
from bench.maintenance.workloads import WORKLOADS, Facts

SEARCHED = tuple(algorithm for algorithm in ALGORITHMS if algorithm != "auto")
TOLERANCE = 0.025
"""Maximum difference of the two times, as a share of their mean, at which the search ends."""


class Search:
    """The search on one workload; all algorithms use its samples and its times of rematerialising."""

    def __init__(self, setting: Setting, facts: Facts) -> None:
        self.setting, self.sampler = setting, Sampler(facts)
        self._rematerialised: dict[int, UpdateRun] = {}

    def deleted(self, column: str, count: int, limit: float | None = None) -> UpdateRun:
        """Delete the first ``count`` facts of the sample."""
        sample = self.setting.encoded(self.sampler.draw("uniform", count, seed=0))
        gc.collect()
        return self.setting.run(column, self.setting.state(column), delete=sample, limit=limit)

    def added(self, column: str, count: int, deleted: UpdateRun, limit: float) -> UpdateRun:
        if deleted.done is None:
            return UpdateRun(0.0, None)
        sample = self.setting.encoded(self.sampler.draw("uniform", count, seed=0))
        gc.collect()
        return self.setting.run(column, self.setting.state_after(column, deleted.done), insert=sample, limit=limit)

    def rematerialised(self, count: int) -> UpdateRun:
        if count not in self._rematerialised:
            runs = [self.deleted(REMATERIALISE, count) for _ in range(2)]
            self._rematerialised[count] = min(runs, key=lambda run: run.seconds)
        return self._rematerialised[count]

    def point(self, algorithm: str, steps: int, until: float) -> dict[str, Any]:
        """The number of facts at which both take equal time; ``exact`` is False if the steps or the time ran out."""
        least, most, size = 0, self.sampler.size, self.sampler.size // 2
        exact = False
        for _ in range(steps):
            if perf_counter() > until or not least < size < most:
                break
            full = self.rematerialised(size).seconds
            run = self.deleted(algorithm, size, limit=max(0.2, 3 * full))
            if run.done is not None and abs(run.seconds - full) < TOLERANCE * (run.seconds + full) / 2:
                exact = True
                break
            least, most = (size, most) if run.seconds < full else (least, size)
            size = (least + most) // 2
        return {"facts": size, "share": size / self.sampler.size, "exact": exact}


def break_even(workload: str, size: int, steps: int, seconds: float) -> dict[str, Any]:
    """The break-even points of a workload, and all algorithms at the larger point of dredc and bfc."""
    chosen = WORKLOADS[workload]
    facts = chosen.facts(size)
    search = Search(Setting(chosen.rules, facts, "levels"), facts)
    return {"workload": workload, **compared(search, steps, seconds)}


def compared(search: Search, steps: int, seconds: float) -> dict[str, Any]:
    """The break-even points of one setting, and all algorithms at the larger point of dredc and bfc."""
    points, began = {}, perf_counter()
    for number, algorithm in enumerate(SEARCHED, 1):
        search.deleted(algorithm, 1)
        points[algorithm] = search.point(algorithm, steps, began + number * seconds / len(SEARCHED))
    largest = max(1, points["dredc"]["facts"], points["bfc"]["facts"])
    full = search.rematerialised(largest)
    columns = (*ALGORITHMS, REMATERIALISE_COUNTED)
    limit = max(2.0, 10 * full.seconds)
    runs = {column: search.deleted(column, largest, limit) for column in columns}
    results = {**runs, REMATERIALISE: full}
    added = {column: search.added(column, largest, run, limit) for column, run in runs.items() if column in SEARCHED}
    return {
        "explicit": search.sampler.size,
        "facts": search.setting.bare.facts.count,
        "points": points,
        "largest": largest,
        "seconds": {column: run.seconds for column, run in results.items()},
        "adding": {column: run.seconds for column, run in added.items() if run.done is not None},
        "cut_off": [column for column, run in results.items() if run.done is None],
        "figures": {column: run.figures() for column, run in results.items()},
    }
