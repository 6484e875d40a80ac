"""Rule instances that papers prove and sizes that others publish."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.maintenance.setting import Setting
from bench.maintenance.workloads import Facts
from bench.modules.sizes import sizes as closure_sizes
from bench.report import Report, table
from bench.suites import Benchmark
from everlog.engine.factset import NONE, FactSet

CHAIN = "b(?y) :- t(?x, ?y), b(?x) ."
JOIN = "u(?x, ?z) :- r(?x, ?y), r(?y, ?z) . v(?x) :- u(?x, ?y), ~r(?x, ?y) ."
LENGTHS = (10, 100, 1_000)
PLACES = (4, 2)
"""Fractions of a chain."""


@dataclass(frozen=True)
class Count:
    """Something counted, and what it should be."""

    topic: str
    instance: str
    expected: int
    counted: int


def counts(quick: bool = False) -> list[Count]:
    """Everything that is counted here, or small instances of what the papers prove."""
    if quick:
        return [*chains(LENGTHS[:2]), *without_recursion((1_000,))]
    return [*chains(), *without_recursion(), *closures()]


def chains(lengths: Sequence[int] = LENGTHS) -> Iterator[Count]:
    """Journal, Proposition 29: on a chain of n nodes whose first is marked, the mark of node i is taken away, which
    changes nothing. Instances are matches of bodies; DRed^c and B/F^c are as their counters let expect."""
    for n in lengths:
        for i in (n // part for part in PLACES):
            setting = _chain(n, i)
            delete = setting.encoded({"b": np.array([[i]])})
            expected = {"counting": 2 * (n - i), "dred": 2 * (n - i) + 1, "fbf": 2 * i - 1,
                        "dredc": 2 * (n - i), "bfc": 2 * i - 1}  # fmt: skip
            for algorithm, number in expected.items():
                found = _instances(setting, algorithm, delete)
                yield Count(f"journal, Proposition 29: {algorithm}", f"n = {n:,}, i = {i:,}", number, found)


def _chain(n: int, i: int) -> Setting:
    nodes = np.arange(1, n)
    facts: Facts = {"t": np.stack([nodes, nodes + 1], axis=1), "b": np.array([[1], [i]])}
    setting = Setting(CHAIN, facts, "levels")
    setting.prepare()
    return setting


def without_recursion(sizes: Sequence[int] = (1_000, 100_000)) -> Iterator[Count]:
    """Journal, section 8: without recursion Counting considers exactly the instances that come or go."""
    random = np.random.default_rng(7)
    for size in sizes:
        edges = np.unique(random.integers(0, size // 4, (size, 2)), axis=0)
        gone = edges[random.permutation(len(edges))[: size // 100]]
        old, new = (Setting(JOIN, {"r": rows}, "levels") for rows in (edges, _less(edges, gone)))
        old.prepare()
        expected = _changed_instances(edges, gone)
        found = _instances(old, "counting", old.encoded({"r": gone}))
        assert new.bare.facts.count < old.bare.facts.count
        yield Count("journal, section 8: counting without recursion", f"{size:,} edges", expected, found)


def _changed_instances(edges: Any, gone: Any) -> int:
    """How many instances of the two rules hold only before or only after, by sets of tuples."""
    return len(_all_instances(edges) ^ _all_instances(_less(edges, gone)))


def _all_instances(edges: Any) -> set[tuple[int, ...]]:
    pairs = set(map(tuple, edges.tolist()))
    after: dict[int, list[int]] = {}
    for x, y in pairs:
        after.setdefault(x, []).append(y)
    joined = {(x, y, z) for x, y in pairs for z in after.get(y, ())}
    return joined | {(x, z) for x, z in {(x, z) for x, _, z in joined} if (x, z) not in pairs}


def _less(edges: Any, gone: Any) -> Any:
    left = set(map(tuple, edges.tolist())).difference(map(tuple, gone.tolist()))
    return np.array(sorted(left))


def _instances(setting: Setting, algorithm: str, delete: FactSet = NONE) -> int:
    done = setting.run(algorithm, setting.state(algorithm), delete=delete).done
    assert done is not None
    return sum(done.statistics.instances.values())


def closures() -> Iterator[Count]:
    """Sizes of closures that others published, by the linear and the nonlinear rule."""
    for one in closure_sizes()["sizes"]:
        for rule, pairs in one["pairs"].items():
            yield Count(f"closure of {one['name']}", f"{rule} rule", one["published"], pairs)


def text(found: list[dict[str, Any]]) -> str:
    """As a table; equal counts of several instances in one line."""
    rows = []
    for topic in dict.fromkeys(one["topic"] for one in found):
        ones = [one for one in found if one["topic"] == topic]
        wrong = [one for one in ones if one["expected"] != one["counted"]]
        shown = ", ".join(f"{one['instance']}: {one['counted']:,}" for one in (wrong or ones)[:3])
        rows.append([topic, str(len(ones)), shown, "equal" if not wrong else f"{len(wrong)} differ"])
    return table(("what", "instances", "counted", "verdict"), rows)


def measure(options: argparse.Namespace) -> Report:
    """Count; wrong if something is not as it should be."""
    found = [asdict(count) for count in counts(options.quick)]
    differ = [one for one in found if one["expected"] != one["counted"]]
    wrong = [f"{one['topic']}, {one['instance']}: {one['counted']:,}, not {one['expected']:,}" for one in differ]
    return Report({"counts": found}, sections=[text(found)], wrong=wrong)


BENCHMARK = Benchmark(measure)
