"""Counts of rule instances that the papers prove, and published closure sizes, compared with ours."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.maintenance.setting import Setting
from bench.maintenance.workloads import Facts
from bench.modules.closure_sizes import closure_sizes
from bench.report import Report, table
from bench.suites import Benchmark
from everlog.engine.factset import NONE, FactSet

CHAIN = "b(?y) :- t(?x, ?y), b(?x) ."
JOIN = "u(?x, ?z) :- r(?x, ?y), r(?y, ?z) . v(?x) :- u(?x, ?y), ~r(?x, ?y) ."
LENGTHS = (10, 100, 1_000)
PLACES = (4, 2)
"""Divisors of the chain's length that give the positions of the deleted mark."""


@dataclass(frozen=True)
class Count:
    """A count and its expected value."""

    topic: str
    instance: str
    expected: int
    counted: int


def counts(quick: bool = False) -> list[Count]:
    if quick:
        return [*chains(LENGTHS[:2]), *without_recursion((1_000,))]
    return [*chains(), *without_recursion(), *closures()]


def chains(lengths: Sequence[int] = LENGTHS) -> Iterator[Count]:
    """Journal, Proposition 29: on a chain of n nodes whose first is marked, the explicit mark of node i is deleted,
    which changes no derived fact. Instances are matches of bodies. The proposition does not cover DRed^c and B/F^c;
    their counts are those that follow from their counters."""
    for n in lengths:
        for i in (n // part for part in PLACES):
            setting = _chain(n, i)
            delete = setting.encoded({"b": np.array([[i]])})
            expected = {"counting": 2 * (n - i), "dred": 2 * (n - i) + 1, "fbf": 2 * i - 1,
                        "dredc": 2 * (n - i), "bfc": 2 * i - 1}  # fmt: skip
            for algorithm, number in expected.items():
                results = _instances(setting, algorithm, delete)
                yield Count(f"journal, Proposition 29: {algorithm}", f"n = {n:,}, i = {i:,}", number, results)


def _chain(n: int, i: int) -> Setting:
    nodes = np.arange(1, n)
    facts: Facts = {"t": np.stack([nodes, nodes + 1], axis=1), "b": np.array([[1], [i]])}
    return Setting(CHAIN, facts, "levels")


def without_recursion(sizes: Sequence[int] = (1_000, 100_000)) -> Iterator[Count]:
    """Journal, section 8: without recursion, Counting considers exactly the inserted and deleted instances."""
    random = np.random.default_rng(7)
    for size in sizes:
        edges = np.unique(random.integers(0, size // 4, (size, 2)), axis=0)
        gone = edges[random.permutation(len(edges))[: size // 100]]
        old, new = (Setting(JOIN, {"r": rows}, "levels") for rows in (edges, _less(edges, gone)))
        expected = len(_all_instances(edges) ^ _all_instances(_less(edges, gone)))
        results = _instances(old, "counting", old.encoded({"r": gone}))
        assert new.bare.facts.count < old.bare.facts.count
        yield Count("journal, section 8: counting without recursion", f"{size:,} edges", expected, results)


def _all_instances(edges: Any) -> set[tuple[int, ...]]:
    """The instances of the two rules, computed with sets of tuples."""
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
    """Published closure sizes, by the linear and the nonlinear rule."""
    for one in closure_sizes()["sizes"]:
        for rule, pairs in one["pairs"].items():
            yield Count(f"closure of {one['name']}", f"{rule} rule", one["published"], pairs)


def text(results: list[dict[str, Any]]) -> str:
    rows = []
    for topic in dict.fromkeys(one["topic"] for one in results):
        ones = [one for one in results if one["topic"] == topic]
        wrong = [one for one in ones if one["expected"] != one["counted"]]
        shown = ", ".join(f"{one['instance']}: {one['counted']:,}" for one in (wrong or ones)[:3])
        rows.append([topic, str(len(ones)), shown, "equal" if not wrong else f"{len(wrong)} differ"])
    return table(("what", "instances", "counted", "verdict"), rows)


def measure(options: argparse.Namespace) -> Report:
    results = [asdict(count) for count in counts(options.quick)]
    differ = [one for one in results if one["expected"] != one["counted"]]
    wrong = [f"{one['topic']}, {one['instance']}: {one['counted']:,}, not {one['expected']:,}" for one in differ]
    return Report({"counts": results}, sections=[text(results)], wrong=wrong)


BENCHMARK = Benchmark(measure)
