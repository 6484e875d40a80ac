"""Facts for programs whose data cannot be had, and programs with the published numbers of rules.

The recipe of the facts: 5,000 nodes in clusters of 50. Each binary predicate has 150 random edges within clusters, each
unary predicate 50 random nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.generators import distinct, random_graph
from bench.maintenance.workloads import Facts
from everlog.lang.parser import parse_program

NODES, CLUSTER = 5_000, 50
EDGES, MEMBERS = 150, 50
RELATIONS = 20
"""Number of binary predicates that the rules of a generated program read."""

RULES_OF_A_CLASS = 4
"""Average number of rules of a recursive class."""

FORMS = (
    "{a}(?x) :- r{k}(?x, ?y), {b}(?y) .",
    "{a}(?y) :- r{k}(?x, ?y), {b}(?x) .",
    "{a}(?x) :- {b}(?x), {c}(?x) .",
    "{a}(?x) :- {b}(?x), r{k}(?x, ?y), {c}(?y) .",
)

Levels = Sequence[tuple[int, int]]
"""For each stratum the number of recursive rules and of all rules, as in table 2 of the journal paper."""


def clustered_facts(rules: str, most: int) -> Facts:
    """Facts by the recipe for all predicates of a program, at most ``most`` of each."""
    random, results = np.random.default_rng(5), dict[str, np.ndarray]()
    program = parse_program(rules)
    predicates = {atom.predicate for rule in program.rules for atom in (rule.head, *rule.body)}
    for predicate in sorted(predicates):
        if predicate.arity == 2:
            cluster = random.integers(0, NODES // CLUSTER, size=(EDGES, 1)) * CLUSTER
            rows = random.integers(0, CLUSTER, size=(EDGES, 2)) + cluster
        elif predicate.arity == 1:
            rows = random.integers(0, NODES, size=(MEMBERS, 1))
        else:
            continue
        results[predicate.name] = distinct(rows[:most])
    return results


def layered_rules(levels: Levels, seed: int) -> str:
    """A program with the given numbers of rules in each stratum, in the manner of ontologies rewritten to datalog.

    The recursive rules of a stratum are about classes that all depend on each other; every class of a stratum depends
    on one of the stratum below. The classes ``c0_0, c0_1, ...`` and the relations ``r0, r1, ...`` are explicit.

    >>> layered_rules([(3, 4), (0, 2)], seed=1).count(":-")
    6
    """
    random = np.random.default_rng(seed)
    below, lines = [f"c0_{number}" for number in range(RELATIONS)], dict[str, None]()

    def add(form: int, head: str, first: str, others: Sequence[str]) -> None:
        """Add a rule that is not there yet."""
        wanted = len(lines) + 1
        while len(lines) < wanted:
            k, other = random.integers(RELATIONS), others[int(random.integers(len(others)))]
            lines[FORMS[form].format(a=head, b=first, c=other, k=k)] = None

    for level, (recursive, every) in enumerate(levels, 1):
        entering = every - recursive
        loop = [f"c{level}_{number}" for number in range(min(recursive, max(3, recursive // RULES_OF_A_CLASS)))]
        single = [f"s{level}_{number}" for number in range((entering + 1) // 2)]
        for number in range(recursive):
            around = number < len(loop)
            following = (number + 1) % len(loop) if around else random.integers(len(loop))
            add(0 if around else number % len(FORMS), loop[number % len(loop)], loop[following], loop)
        heads = [*loop[:1], *single]
        for number in range(entering):
            add(number % 2, heads[number % len(heads)], below[number % len(below)], below)
        below = [*loop, *single]
    return "\n".join(lines)


def layered_facts(nodes: int) -> Facts:
    """Explicit facts for :func:`layered_rules`: two edges a node in each relation, one node of fifty in each class."""
    random = np.random.default_rng(12)
    facts: Facts = {f"r{k}": random_graph(nodes, 2 * nodes, seed=20 + k) for k in range(RELATIONS)}
    for name in (*(f"c0_{number}" for number in range(RELATIONS)), "c1_0"):
        facts[name] = distinct(random.choice(nodes, max(1, nodes // 50), replace=False)[:, None])
    return facts
