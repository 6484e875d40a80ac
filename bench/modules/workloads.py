"""What is closed: programs with their explicit facts, and the predicates that queries ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench import generators
from bench.generators import Edges
from bench.inputs import SHARED
from bench.maintenance.workloads import GO, Facts
from bench.modules import programs
from bench.modules.data import SKOS, read_rdf, read_tables
from bench.modules.setting import FORMS, Form
from bench.programs import LINEAR, NONLINEAR
from bench.workloads import dag_r

CONCEPT, SUBJECT = "concept", "subject"
TOPICS = (8, 6, 4, 2)
"""How many nodes each of the four topics has that queries are about."""

PROPERTIES, TRANSITIVE = 130, 30
WORDNET = "hierarchies/wordnet-3.1-hypernym.tsv.gz"
SKOS_PREDICATES = (
    "broader", "narrower", "related", "topConceptOf", "hasTopConcept", "inScheme",
    "broadMatch", "narrowMatch", "relatedMatch", "closeMatch", "exactMatch",
)  # fmt: skip


@dataclass(frozen=True)
class Workload:
    """A program and its facts; ``facts(size)`` makes them, and ``size`` is that of a full run, ``quick`` that of a
    quick one.

    ``closure`` is the closed predicate that queries are about if they are ``asked``, ``union`` the one that is a
    virtual union. ``forms`` are those that are measured; ``single`` says that facts are deleted and inserted one by
    one too. ``changed`` facts are deleted and inserted at once, unless that is more than one in a hundred."""

    name: str
    rules: str
    facts: Callable[[int], Facts]
    size: int
    quick: int
    closure: str
    union: str | None = None
    asked: bool = False
    single: bool = False
    forms: tuple[Form, ...] = FORMS
    changed: int = 1_000
    shared: tuple[str, ...] = ()

    def available(self) -> bool:
        """Whether its data is here."""
        return all((SHARED / path).exists() for path in self.shared)

    def inputs(self, size: int) -> tuple[Facts, Facts]:
        """The facts that are sampled for updates, and those that only queries need."""
        facts = self.facts(size)
        return facts, topics(facts) if self.asked else {}

    def change(self, explicit: int) -> int:
        """How many facts a small update changes."""
        return max(1, min(self.changed, explicit // 100))


def topics(facts: Facts) -> Facts:
    """Every node as a concept, and a few random ones as those that have one of the topics, which are numbered on."""
    nodes = np.unique(np.concatenate([rows.ravel() for rows in facts.values()]))
    random, first = np.random.default_rng(17), int(nodes[-1]) + 1
    pairs = [(node, first + topic) for topic, few in enumerate(TOPICS) for node in random.choice(nodes, few)]
    return {CONCEPT: nodes[:, None], SUBJECT: generators.distinct(np.array(pairs))}


def _edges(make: Callable[[int], Edges], name: str = "edge") -> Callable[[int], Facts]:
    return lambda size: {name: make(size)}


def _first(paths: dict[str, str]) -> Callable[[int], Facts]:
    """The first rows of files of the shared data."""
    return lambda size: {name: rows[:size] for name, rows in read_tables(paths).items()}


def _skos(path: str) -> Callable[[int], Facts]:
    iris = {name: (f"{SKOS}{name}",) for name in SKOS_PREDICATES}
    return lambda size: {name: rows[:size] for name, rows in read_rdf(path, iris).items()}


def _dag(size: int) -> Edges:
    return dag_r() if size == 10_000 else generators.random_dag(size, 10 * size, seed=3)


def _categories(nodes: int) -> Facts:
    return {"broader": generators.category_graph(nodes, round(3.84 * nodes))}


def _related(nodes: int) -> Facts:
    return {**_categories(nodes), "related": generators.clustered_dag(nodes, nodes, max(2, nodes // 200), seed=1)}


def _relations(nodes: int) -> Facts:
    """A third of the properties have most of the facts."""
    return {
        f"r{i}": generators.clustered_dag(nodes, 3 * nodes if i % 3 == 1 else nodes // 8, nodes // 4, seed=i)
        for i in range(PROPERTIES)
    }


def _graph(name: str) -> Workload:
    path = f"graphs/{name}.tsv.gz"
    return Workload(name, LINEAR.rules, _first({"edge": path}), 1 << 40, 500, "path", shared=(path,))


def _thesaurus(name: str, path: str) -> Workload:
    return Workload(name, programs.SKOS, _skos(path), 1 << 40, 300, "narrowerTransitive", "semanticRelation",
                    asked=True, shared=(path,))  # fmt: skip


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("dag-r-nonlinear", NONLINEAR.rules, _edges(_dag), 10_000, 200, "path", asked=True, single=True),
        Workload("dag-r-linear", LINEAR.rules, _edges(_dag), 10_000, 200, "path"),
        _graph("grid150"),
        _graph("gnp10K"),
        _graph("g26013"),
        Workload("gene-ontology", programs.HIERARCHY, _first({"is_a": GO[0], "part_of": GO[1]}), 1 << 40, 500,
                 "within", asked=True, shared=GO),
        Workload("wordnet", NONLINEAR.rules, _first({"edge": WORDNET}), 1 << 40, 500, "path", asked=True,
                 shared=(WORDNET,)),
        _thesaurus("stw", "skos/stw-skos.ttl.gz"),
        _thesaurus("gemet", "skos/gemet-de.rdf.gz"),
        _thesaurus("uat", "skos/UAT-5.1.0.rdf.gz"),
        Workload("relations", programs.relations_rules(PROPERTIES, TRANSITIVE, seed=5), _relations, 8_000, 100,
                 "r31", "r24", asked=True),
        Workload("categories-small", programs.CATEGORIES + programs.SEMANTIC_RELATION, _related, 30_000, 300,
                 "narrowerTransitive", "semanticRelation", asked=True),
        Workload("categories", programs.CATEGORIES, _categories, 300_000, 400, "narrowerTransitive", asked=True,
                 single=True, forms=("compact",)),
    )
}  # fmt: skip
