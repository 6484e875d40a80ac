"""Shares of a category graph in each form, rounds of insertions, and queries (storage paper, tables 1 to 3).

The rules are those of SKOS about transitive properties and about ``semanticRelation``, a union; the graph is drawn as
in the module experiments. A quarter, a half, three quarters and all of its edges are materialised. The forms that list
pairs are left out where a relation has too many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench import generators
from bench.maintenance.workloads import Facts
from bench.modules.programs import CATEGORIES, SEMANTIC_RELATION
from bench.modules.queries import time_queries
from bench.modules.setting import Form, Setting, State
from bench.modules.workloads import topics
from bench.peers import peak_mb
from everlog.lang.syntax import Predicate

SHARES = (25, 50, 75, 100)
CLOSURE, UNION = "narrowerTransitive", "semanticRelation"
ROUND, ROUNDS = 1_000, 3
"""Number of edges of a round of insertions, and number of rounds."""

MOST_LISTED = 60_000_000
"""Maximum number of pairs of a closure that are listed."""


def graph(nodes: int, share: int) -> Facts:
    """A share, in percent, of the edges of a category graph, in random order, and of a smaller relation beside it."""
    random = np.random.default_rng(share)
    edges = generators.category_graph(nodes, round(3.84 * nodes))
    related = generators.clustered_dag(nodes, nodes, max(2, nodes // 200), seed=1)
    return {name: rows[random.permutation(len(rows))[: len(rows) * share // 100]]
            for name, rows in (("broader", edges), ("related", related))}  # fmt: skip


def share_in_form(nodes: int, share: int, form: Form, limit: float, asked: bool) -> dict[str, Any]:
    """Materialise a share but for the edges of the rounds, then insert these; the rounds have DRed^c's counters."""
    facts = graph(nodes, share)
    whole = {**facts, **topics(facts)}
    first, later = np.split(facts["broader"], [-ROUND * ROUNDS])
    setting = Setting(CATEGORIES + SEMANTIC_RELATION, whole, form)
    setting.explicit = setting.encoded({**whole, "broader": first})
    step = setting.materialised(limit)
    if step.state is None:
        return {"cut_off": step.seconds, "peak_mb": peak_mb()}
    results = {"seconds": step.seconds, **_size(step.state), "edges": len(first)}
    if asked:
        results["queries"] = {name: time_queries(setting, step.state.facts, name) for name in (CLOSURE, UNION)}
    return {**results, "rounds": _rounds(setting, step.state, later, limit), "peak_mb": peak_mb()}


def _rounds(setting: Setting, state: State, later: Any, limit: float) -> list[dict[str, Any]]:
    counted = setting.counted(state, limit).state
    results = []
    for number in range(ROUNDS if counted is not None else 0):
        assert counted is not None
        edges = later[number * ROUND : (number + 1) * ROUND]
        step = setting.updated(counted, insert=setting.encoded({"broader": edges}), limit=limit)
        if step.state is None:
            break
        counted = step.state
        results.append({"seconds": step.seconds, **_size(counted)})
    return results


def _size(state: State) -> dict[str, Any]:
    return {"held": state.nbytes, "facts": state.facts.count, "pairs": len(state.facts.relation(Predicate(CLOSURE, 2)))}
