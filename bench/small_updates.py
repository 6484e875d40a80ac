"""Small updates of a large materialisation in memory by each algorithm, compared with rematerialising."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.generators import Edges, forest

RULES = "above(?x, ?y) :- parent(?x, ?y) .\nabove(?x, ?z) :- above(?x, ?y), parent(?y, ?z) ."
ALGORITHMS = ("auto", "dredc", "bfc", "dred", "fbf")
CHANGED = 1_000
"""Number of explicit facts that an update changes: half are deleted, half inserted."""
ROUNDS = 10
"""Number of timed updates for each algorithm."""


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
