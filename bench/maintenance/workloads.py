"""The workloads that are updated: programs and explicit facts, drawn with a seed or read from the shared data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench import generators
from bench.extras import RULES as ANCESTORS
from bench.inputs import read_shared
from bench.maintenance import lubm

Facts = dict[str, npt.NDArray[np.int64]]
"""Explicit facts: for each predicate an ``(n, arity)`` array of numbers."""

SYMMETRIC_TRANSITIVE = """
same(?x, ?y) :- link(?x, ?y) .
same(?x, ?y) :- same(?y, ?x) .
same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""
HIERARCHY = """
within(?x, ?y) :- is_a(?x, ?y) .
within(?x, ?y) :- part_of(?x, ?y) .
within(?x, ?z) :- within(?x, ?y), is_a(?y, ?z) .
within(?x, ?z) :- within(?x, ?y), part_of(?y, ?z) .
"""
JOIN = "s(?y, ?z) :- r(?x, ?y), r(?x, ?z) ."
GO = ("hierarchies/go-2023-is_a.tsv.gz", "hierarchies/go-2023-part_of.tsv.gz")


@dataclass(frozen=True)
class UpdateWorkload:
    """A program and its facts: ``facts(size)`` generates them.

    ``size`` is that of a full run, ``quick`` that of a quick one, ``middle`` that of the search for the break-even
    point, which computes the workload many times."""

    name: str
    rules: str
    facts: Callable[[int], Facts]
    size: int
    middle: int
    quick: int
    shared: tuple[str, ...] = ()


def changed_facts(explicit: int) -> int:
    """The number of facts that a small update changes: 1,000, and at most one in a hundred."""
    return max(1, min(1_000, explicit // 100))


def _mutual_rules(classes: int, rules: int, relations: int, seed: int) -> str:
    """Mutually recursive rules over ``classes`` classes, as ontologies rewritten to datalog have them."""
    random = np.random.default_rng(seed)
    lines = [f"a{i}(?x) :- r{i % relations}(?x, ?y), a{(i + 1) % classes}(?y) ." for i in range(classes)]
    forms = (
        "a{}(?x) :- r{}(?x, ?y), a{}(?y) .",
        "a{}(?y) :- r{}(?x, ?y), a{}(?x) .",
        "a{0}(?x) :- a{2}(?x), a{3}(?x) .",
        "a{0}(?x) :- a{2}(?x), r{1}(?x, ?y), a{3}(?y) .",
    )
    for number in range(rules - classes):
        i, j, k = random.choice(classes, 3, replace=False)
        lines.append(forms[number % len(forms)].format(i, random.integers(relations), j, k))
    return "\n".join(lines)


RELATIONS, CLASSES, MUTUAL_RULES = 4, 20, 80


def _mutual_facts(nodes: int) -> Facts:
    random = np.random.default_rng(12)
    facts = {f"r{k}": generators.random_graph(nodes, nodes, seed=20 + k) for k in range(RELATIONS)}
    for i in range(CLASSES):
        facts[f"a{i}"] = random.choice(nodes, nodes // 50, replace=False)[:, None]
    return facts


def _hierarchy(size: int) -> Facts:
    """The first edges of the Gene Ontology, numbered."""
    tables = [read_shared(path) for path in GO]
    texts = np.concatenate([t[c].to_numpy(zero_copy_only=False).astype(str) for t in tables for c in ("x", "y")])
    ids = np.unique(texts, return_inverse=True)[1].astype(np.int64)
    is_a, part_of = (len(table) for table in tables)
    split = np.split(ids, np.cumsum([is_a, is_a, part_of]))
    facts = {"is_a": np.stack(split[:2], axis=1), "part_of": np.stack(split[2:], axis=1)}
    return {name: rows[:: max(1, (is_a + part_of) // size)] for name, rows in facts.items()}


def join_facts(n: int) -> Facts:
    """The facts of Example 1 of the thesis (4.2): R(a_i, b) and R(a_i, c_i); a_i is i, b is n, c_i is n + i."""
    a = np.arange(n)
    return {"r": np.concatenate([np.stack([a, np.full(n, n)], axis=1), np.stack([a, n + 1 + a], axis=1)])}


WORKLOADS = {
    workload.name: workload
    for workload in (
        UpdateWorkload("lubm", lubm.rules(), lambda n: lubm.universities(n, seed=5), size=64, middle=10, quick=1),
        UpdateWorkload("mutual", _mutual_rules(CLASSES, MUTUAL_RULES, RELATIONS, seed=7), _mutual_facts,
                       size=20_000, middle=5_000, quick=200),
        UpdateWorkload("symmetric-transitive", SYMMETRIC_TRANSITIVE,
                 lambda n: {"link": generators.sparse_component(n, 0.1, seed=8)}, size=500, middle=250, quick=60),
        UpdateWorkload("forest", ANCESTORS, lambda n: {"parent": generators.forest(n, 1_000, seed=1)},
                 size=1_350, middle=150, quick=10),
        UpdateWorkload("gene-ontology", HIERARCHY, _hierarchy, size=1 << 40, middle=1 << 40, quick=10_000, shared=GO),
        UpdateWorkload("thesis-example-1", JOIN, join_facts, size=100_000, middle=100_000, quick=2_000),
    )
}  # fmt: skip
