"""The targets and the report of the Spark benchmark, computed from invented records."""

from __future__ import annotations

from typing import Any

from bench.machine import busy_cores, status_bytes
from bench.report import Run
from bench.spark.experiments import merged
from bench.spark.measure import stopped_after
from bench.spark.memory_peaks import DRIVER, HEAP, family
from bench.spark.report import report
from bench.spark.targets import disagreements, targets

FIGURES = {"facts": 9, "phases": {"read": 1.0, "reason": 1.0}}


def compared(system: str, seconds: float, answers: int | None = 7, workload: str = "dag-r") -> dict[str, Any]:
    return {"workload": workload, "system": system, "seconds": seconds, "answers": answers, "mixed": 1, "error": None}


def joins(times: int, cores: int, seconds: float) -> dict[str, Any]:
    return {"times": times, "cores": cores, "seconds": seconds, "explicit": 100 * times, **FIGURES}


def limited(times: int, size: int) -> dict[str, Any]:
    peaks = {DRIVER: size, "driver, Java": size, HEAP: size}
    return {"times": times, "seconds": 3.0, "explicit": 700_000 * times, "peaks": peaks, **FIGURES}


def measured(parts: dict[str, Any]) -> dict[str, bool | None]:
    return {target.promise: target.met for target in targets(parts)}


def page(parts: dict[str, Any]) -> str:
    return report(parts).page("Spark", Run("test", 0.0))


def test_nothing_measured_is_nothing_promised() -> None:
    assert set(measured({}).values()) == {None}


def test_a_loop_that_was_stopped_only_gives_a_bound() -> None:
    promise = next(iter(measured({})))
    for seconds, loop, answers, met in ((1, 30, 7, True), (1, 9, 7, False), (1, 9, None, None), (1, 30, None, True)):
        runs = [compared("reachability", seconds), compared("obvious loop", loop, answers)]
        assert measured({"compare": {"runs": runs}})[promise] is met


def test_growth_cores_and_memory() -> None:
    good = {
        "joins": {"runs": [joins(1, 2, 20), joins(2, 2, 30), joins(8, 2, 190), joins(2, 1, 60)]},
        "memory": {"runs": [limited(1, 100), limited(8, 109)]},
    }
    bad = {
        "joins": {"runs": [joins(1, 2, 20), joins(2, 2, 40), joins(8, 2, 200), joins(2, 1, 60)]},
        "memory": {"runs": [limited(1, 100), limited(8, 111)]},
    }
    verdicts = [met for met in measured(good).values() if met is not None]
    assert verdicts == [True] * 5
    assert [met for met in measured(bad).values() if met is not None] == [False] * 4 + [True]
    about = {"command_line": "x", "load": 0.0}
    assert "missed" in page({name: {**part, **about} for name, part in bad.items()})


def test_systems_that_disagree_are_named() -> None:
    assert disagreements([compared("a", 1), compared("b", 2)]) == []
    assert "dag-r" in disagreements([compared("a", 1), compared("b", 2, 8)])[0]


def test_what_was_measured_again_takes_the_place() -> None:
    old = {"runs": [compared("a", 1), compared("b", 2)], "load": 3.0}
    new = {"runs": [compared("b", 5)], "load": 0.0}
    assert merged(old, new) == {"runs": [compared("a", 1), compared("b", 5)], "load": 0.0}


def updates(ways: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "changed": 1_000,
        "materialise": {"seconds": 20.0, "explicit": 1_000, "facts": 2_000},
        "local": {"seconds": 1.0},
        "store": {"files": 1, "groups": 4, "rows": 2_000, "bytes": 1_000_000},
        "updates": ways,
        "command_line": "x",
        "load": 0.0,
    }


def timed_update(seconds: float, rows: int = 40, read: int = 500) -> dict[str, Any]:
    added = {"files": 2, "groups": 2, "rows": rows, "bytes": 5_000}
    done = {"seconds": seconds, "algorithm": "dredc", "inserted": 30, "deleted": 10, "added": added}
    return {**done, "read": {"stages": 7, "rows": read, "bytes": 9}}


def test_small_updates_are_quick_and_read_and_write_little() -> None:
    for many, few, met in (
        ([timed_update(4.0, rows=80), timed_update(9.0, rows=81)], [timed_update(1.0, rows=80)], [True, True, True]),
        ([timed_update(4.1, rows=81)], [timed_update(1.0, read=501)], [False, False, False]),
    ):
        part = updates({"Spark": many, "Spark, a hundredth of the change": few})
        assert [met for met in measured({"updates": part}).values() if met is not None] == met


def test_updates_stand_beside_materialising() -> None:
    part = updates({"Spark, distributed": [timed_update(2.0), timed_update(9.0)]})
    (line,) = [line for line in page({"updates": part}).splitlines() if "update, Spark" in line]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[1:3] == ["2.0", "10%"]
    assert cells[5:] == ["2 (40 rows, 5 kB)", "7", "500 (25%)"]


def test_what_is_stopped_between_two_jobs_is_stopped_again() -> None:
    stopped = []
    with stopped_after(0.01, lambda: stopped.append(1)):
        while len(stopped) < 2:
            pass
    with stopped_after(60, lambda: stopped.append(1)):
        pass
    assert len(stopped) == 2


def test_processes_are_seen() -> None:
    import os

    assert family(os.getpid())[os.getpid()] == DRIVER
    assert status_bytes("VmHWM", os.getpid()) > 1 << 20
    assert status_bytes("VmHWM", 1 << 30) == 0
    assert busy_cores(0.1) >= 0
