"""How updates scale with the number of changed facts (journal paper, section 10.4).

The break-even points are searched, then a quarter, a half, three quarters and all of each are deleted and added again.
"""

from __future__ import annotations

from typing import Any

from bench.maintenance.break_even import Search, compared
from bench.maintenance.setting import Setting
from bench.papers import prepared

PARTS = (0.25, 0.5, 0.75, 1.0)
CURVES = ("counting", "dred", "fbf", "dredc", "bfc")


def scaling(directory: str, steps: int, seconds: float, sizes: int) -> dict[str, Any]:
    """The break-even points, all algorithms at the largest of them, and for each of at most ``sizes`` numbers of facts
    the seconds and instances of deleting and of adding them."""
    rules, facts = prepared.read(directory)
    Setting(rules, prepared.few(facts), "levels")
    search = Search(Setting(rules, facts, "levels"), facts)
    results = compared(search, steps, seconds)
    points = {round(part * point["facts"]) for part in PARTS for point in results["points"].values()} - {0}
    chosen = sorted(points)[-1 :: -max(1, -(-len(points) // sizes))][::-1]
    return {**results, "curves": [_point(search, count) for count in chosen]}


def _point(search: Search, count: int) -> dict[str, Any]:
    """Deleting a number of facts and adding them again, by every algorithm. A run is stopped after three times the
    seconds of rematerialising."""
    limit = max(1.0, 3 * search.rematerialised(count).seconds)
    results: dict[str, Any] = {"facts": count, "rematerialise": search.rematerialised(count).seconds}
    for column in CURVES:
        deleted = search.deleted(column, count, limit)
        added = search.added(column, count, deleted, limit)
        if deleted.done is not None:
            results[column] = {"delete": deleted.seconds, "instances": deleted.figures()["instances"]}
            if added.done is not None:
                results[column]["add"] = added.seconds
    return results
