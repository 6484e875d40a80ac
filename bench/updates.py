"""Small updates of a large materialisation in memory, by each algorithm, against computing it again."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.generators import Edges, forest

RULES = "above(?x, ?y) :- parent(?x, ?y) .\nabove(?x, ?z) :- above(?x, ?y), parent(?y, ?z) ."
ALGORITHMS = ("auto", "dredc", "bfc", "dred", "fbf")
CHANGED = 1_000
ROUNDS = 10


def small_updates(trees: int, size: int) -> dict[str, Any]:
    """Seconds of materialising a forest's ancestors, and for each algorithm the median of ten updates that
    take 500 edges away and bring 500 others back."""
    from everlog import KnowledgeBase

    edges = forest(trees, size, seed=1)
    random = np.random.default_rng(2)
    away, present = edges[: CHANGED // 2], edges[CHANGED // 2 :]
    kb: Any = KnowledgeBase(RULES, modules=False)
    kb.insert("parent", present)
    kb.materialise()
    began = perf_counter()
    facts = kb.materialise(fresh=True).facts
    again = perf_counter() - began
    found: dict[str, Any] = {}
    for algorithm in ("auto", *ALGORITHMS):  # the first round builds what all later ones share
        runs = []
        for _ in range(ROUNDS):
            present, leaving = _picked(present, random)
            began = perf_counter()
            change = kb.update(insert={"parent": away}, delete={"parent": leaving}, algorithm=algorithm)
            runs.append(perf_counter() - began)
            present, away = np.concatenate([present, away]), leaving
        stats = change.stats
        found[algorithm] = {"median": median(runs), "chosen": stats.algorithm, "instances": stats.instances}
        _check(kb, facts, change)
        facts = len(kb["above"]) + len(kb["parent"])
    return {"facts": facts, "rematerialise": again, "changed": CHANGED, "updates": found}


def _picked(edges: Edges, random: np.random.Generator) -> tuple[Edges, Edges]:
    """Edges without some of them, and these."""
    chosen = np.zeros(len(edges), np.bool_)
    chosen[random.choice(len(edges), CHANGED // 2, replace=False)] = True
    return edges[~chosen], edges[chosen]


def _check(kb: Any, before: int, change: Any) -> None:
    if len(change.explicit_inserted["parent"]) + len(change.explicit_deleted["parent"]) != CHANGED or not before:
        raise RuntimeError("an update did not change what it was asked to")
