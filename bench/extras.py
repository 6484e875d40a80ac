"""What is measured of general rules besides closures: memory, small updates, and the dictionary."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.generators import Edges, forest
from bench.inputs import read
from bench.machine import status_bytes
from bench.programs import LINEAR

RULES = "above(?x, ?y) :- parent(?x, ?y) .\nabove(?x, ?z) :- above(?x, ?y), parent(?y, ?z) ."
ALGORITHMS = ("auto", "dredc", "bfc", "dred", "fbf")
CHANGED = 1_000
"""Number of explicit facts that an update changes: half are deleted, half inserted."""
ROUNDS = 10
"""Number of timed updates for each algorithm."""


def bytes_per_fact(directory: str, maintain: Any) -> dict[str, Any]:
    """Bytes per fact of a closure, before and after a query that needs a second sort order.

    ``accounted`` is the figure reported by the relation, if it has one. The ``resident`` figures are the growth of
    the process, which includes the dictionary, the edges and the allocator's reserve."""
    from everlog import KnowledgeBase

    warm: Any = KnowledgeBase(LINEAR.rules, maintain=maintain, modules=False)
    inputs = read(Path(directory))
    for name, table in inputs.head(10).tables.items():
        warm.insert(name, table)
    len(warm.query("path(?x, 5)"))
    del warm
    before = resident_bytes()
    kb: Any = KnowledgeBase(LINEAR.rules, maintain=maintain, modules=False)
    for name, table in inputs.tables.items():
        kb.insert(name, table)
    kb.materialise()
    one_order = resident_bytes() - before
    len(kb.query("path(?x, 5)"))
    two_orders = resident_bytes() - before
    path = kb["path"]
    accounted = getattr(path, "nbytes", None)
    facts = len(path)
    return {
        "facts": facts,
        "accounted": None if accounted is None else accounted / facts,
        "counters": kb.memory["bookkeeping"] / facts,
        "resident_one_order": one_order / facts,
        "resident": two_orders / facts,
    }


def resident_bytes() -> int:
    """Resident memory of this process, after garbage collection and returning free memory to the system."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return status_bytes("VmRSS")


def small_updates(trees: int, size: int) -> dict[str, Any]:
    """Seconds to materialise a forest's ancestors and, for each algorithm, the median of ten updates that delete 500
    edges and insert 500 others."""
    from everlog import KnowledgeBase

    edges = forest(trees, size, seed=1)
    random = np.random.default_rng(2)
    absent, present = edges[: CHANGED // 2], edges[CHANGED // 2 :]
    kb: Any = KnowledgeBase(RULES, modules=False)
    kb.insert("parent", present)
    kb.materialise()
    began = perf_counter()
    facts = kb.materialise(fresh=True).facts
    rematerialise_seconds = perf_counter() - began
    results: dict[str, Any] = {}
    for algorithm in ("auto", *ALGORITHMS):  # the first round is a warm-up: it builds indexes that all later rounds use
        runs = []
        for _ in range(ROUNDS):
            present, deleted = _split(present, random)
            began = perf_counter()
            change = kb.update(insert={"parent": absent}, delete={"parent": deleted}, algorithm=algorithm)
            runs.append(perf_counter() - began)
            present, absent = np.concatenate([present, absent]), deleted
        stats = change.stats
        results[algorithm] = {"median": median(runs), "chosen": stats.algorithm, "instances": stats.instances}
        _check(kb, facts, change)
        facts = len(kb["above"]) + len(kb["parent"])
    return {"facts": facts, "rematerialise": rematerialise_seconds, "changed": CHANGED, "updates": results}


def _split(edges: Edges, random: np.random.Generator) -> tuple[Edges, Edges]:
    """The edges without a random sample, and the sample."""
    chosen = np.zeros(len(edges), np.bool_)
    chosen[random.choice(len(edges), CHANGED // 2, replace=False)] = True
    return edges[~chosen], edges[chosen]


def _check(kb: Any, before: int, change: Any) -> None:
    if len(change.explicit_inserted["parent"]) + len(change.explicit_deleted["parent"]) != CHANGED or not before:
        raise RuntimeError("an update did not change what it was asked to")


def terms_per_second(terms: int) -> dict[str, Any]:
    """Millions of terms per second on one core: new terms encoded, and terms decoded in the order of their ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from everlog.engine.dictionary import Dictionary

    numbers = pa.array(np.random.default_rng(0).permutation(terms)).cast(pa.large_string())
    ends = (pa.scalar(text, pa.large_string()) for text in ("<http://example.org/entity/", ">", ""))
    iris = pc.binary_join_element_wise(next(ends), numbers, *ends)
    warm = Dictionary()
    warm.decode(warm.encode(numbers[:10]))
    return {kind: _rates(array) for kind, array in (("integers", numbers), ("IRIs", iris))}


def _rates(array: Any) -> dict[str, float]:
    from everlog.engine.dictionary import Dictionary

    best = {"encode": 0.0, "decode": 0.0}
    for _ in range(3):
        dictionary = Dictionary()
        began = perf_counter()
        ids = dictionary.encode(array)
        encoded = perf_counter()
        back = dictionary.decode(ids)
        decoded = perf_counter()
        if not back.equals(array):
            raise RuntimeError("a term came back as another")
        best["encode"] = max(best["encode"], len(array) / (encoded - began) / 1e6)
        best["decode"] = max(best["decode"], len(array) / (decoded - encoded) / 1e6)
    return best
