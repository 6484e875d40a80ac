"""The break-even points (journal paper, section 10.4; thesis, tables 4.3 and 4.4).

For each algorithm, how many explicit facts may be deleted before computing everything again is quicker: a binary
search with uniform samples of one seed. At the largest point of the two algorithms with counters all are compared,
deleting so many facts and adding them again.
"""

from __future__ import annotations

import gc
from time import perf_counter
from typing import Any

from bench.maintenance.samples import Sampler
from bench.maintenance.setting import ALGORITHMS, REMATERIALISE, REMATERIALISE_COUNTED, Run, Setting
from bench.maintenance.workloads import WORKLOADS

SEARCHED = tuple(algorithm for algorithm in ALGORITHMS if algorithm != "auto")
TOLERANCE = 0.025
"""The search ends when the two times differ by less than this share of their mean."""


class Search:
    """One workload; samples and the time of computing again are shared by the algorithms."""

    def __init__(self, workload: str, size: int) -> None:
        chosen = WORKLOADS[workload]
        facts = chosen.facts(size)
        self.setting, self.sampler = Setting(chosen.rules, facts, "levels"), Sampler(facts)
        self.setting.prepare()
        self._again: dict[int, Run] = {}

    def deleted(self, column: str, count: int, limit: float | None = None) -> Run:
        """Delete the first facts of the sample."""
        sample = self.setting.encoded(self.sampler.draw("uniform", count, seed=0))
        gc.collect()
        return self.setting.run(column, self.setting.state(column), delete=sample, limit=limit)

    def added(self, column: str, count: int, deleted: Run, limit: float) -> Run:
        """Add them again."""
        if deleted.done is None:
            return Run(0.0, None)
        sample = self.setting.encoded(self.sampler.draw("uniform", count, seed=0))
        gc.collect()
        return self.setting.run(column, self.setting.again(column, deleted.done), insert=sample, limit=limit)

    def again(self, count: int) -> Run:
        """Compute everything without these facts."""
        if count not in self._again:
            runs = [self.deleted(REMATERIALISE, count) for _ in range(2)]
            self._again[count] = min(runs, key=lambda run: run.seconds)
        return self._again[count]

    def point(self, algorithm: str, steps: int, until: float) -> dict[str, Any]:
        """The size at which both take the same time; ``exact`` unless steps or time ran out before."""
        least, most, size = 0, self.sampler.size, self.sampler.size // 2
        exact = False
        for _ in range(steps):
            if perf_counter() > until or not least < size < most:
                break
            again = self.again(size).seconds
            spent = self.deleted(algorithm, size, limit=max(0.2, 3 * again))
            if spent.done is not None and abs(spent.seconds - again) < TOLERANCE * (spent.seconds + again) / 2:
                exact = True
                break
            least, most = (size, most) if spent.seconds < again else (least, size)
            size = (least + most) // 2
        return {"facts": size, "share": size / self.sampler.size, "exact": exact}


def break_even(workload: str, size: int, steps: int, seconds: float) -> dict[str, Any]:
    """The break-even points of a workload, and all algorithms at the largest of dredc and bfc."""
    search = Search(workload, size)
    points, began = {}, perf_counter()
    for number, algorithm in enumerate(SEARCHED, 1):
        search.deleted(algorithm, 1)
        points[algorithm] = search.point(algorithm, steps, began + number * seconds / len(SEARCHED))
    largest = max(1, points["dredc"]["facts"], points["bfc"]["facts"])
    again = search.again(largest)
    columns = (*ALGORITHMS, REMATERIALISE_COUNTED)
    limit = max(2.0, 10 * again.seconds)
    runs = {column: search.deleted(column, largest, limit) for column in columns}
    found = {**runs, REMATERIALISE: again}
    added = {column: search.added(column, largest, run, limit) for column, run in runs.items() if column in SEARCHED}
    return {
        "workload": workload,
        "explicit": search.sampler.size,
        "facts": search.setting.bare.facts.count,
        "points": points,
        "largest": largest,
        "seconds": {column: run.seconds for column, run in found.items()},
        "adding": {column: run.seconds for column, run in added.items() if run.done is not None},
        "cut_off": [column for column, run in found.items() if run.done is None],
        "figures": {column: run.figures() for column, run in found.items()},
    }
