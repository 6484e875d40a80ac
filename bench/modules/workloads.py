"""The workloads of the module experiments: programs, explicit facts, and the predicates that are queried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench import generators
from bench.generators import Edges
from bench.maintenance.workloads import GO, Facts
from bench.modules import programs
from bench.modules.data import SKOS, read_rdf, read_tables
from bench.modules.setting import FORMS, Form
from bench.programs import LINEAR, NONLINEAR
from bench.workloads import dag_r

CONCEPT, SUBJECT = "concept", "subject"
TOPICS = (8, 6, 4, 2)
"""Number of nodes of each of the four topics in queries."""

PROPERTIES, TRANSITIVE = 130, 30
WORDNET = "hierarchies/wordnet-3.1-hypernym.tsv.gz"
SKOS_PREDICATES = (
    "broader", "narrower", "related", "topConceptOf", "hasTopConcept", "inScheme",
    "broadMatch", "narrowMatch", "relatedMatch", "closeMatch", "exactMatch",
)  # fmt: skip


@dataclass(frozen=True)
class ModuleWorkload:
    """A program and its facts: ``facts(size)`` generates them; ``size`` is that of a full run, ``quick`` that of a
    quick one.

    Queries run if ``asked`` is set, on the predicate ``closure`` and, if there is one, the virtual union ``union``.
    ``forms`` are measured. With ``single``, facts are also deleted and inserted one by one."""

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
    shared: tuple[str, ...] = ()

    def inputs(self, size: int) -> tuple[Facts, Facts]:
        """The facts that updates sample, and the facts that only queries need."""
        facts = self.facts(size)
        return facts, topics(facts) if self.asked else {}


def topics(facts: Facts) -> Facts:
    """Facts that make every node a concept, and give topics to a few random nodes. Topics are numbered after nodes."""
    nodes = np.unique(np.concatenate([rows.ravel() for rows in facts.values()]))
    random, first = np.random.default_rng(17), int(nodes[-1]) + 1
    pairs = [(node, first + topic) for topic, few in enumerate(TOPICS) for node in random.choice(nodes, few)]
    return {CONCEPT: nodes[:, None], SUBJECT: generators.distinct(np.array(pairs))}


def _edges(make: Callable[[int], Edges], name: str = "edge") -> Callable[[int], Facts]:
    return lambda size: {name: make(size)}


def _first(paths: dict[str, str]) -> Callable[[int], Facts]:
    """A function that reads the first rows of files of the shared data."""
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
    """Random facts of the properties; a third of the properties have most of them."""
    return {
        f"r{i}": generators.clustered_dag(nodes, 3 * nodes if i % 3 == 1 else nodes // 8, nodes // 4, seed=i)
        for i in range(PROPERTIES)
    }


def _graph(name: str) -> ModuleWorkload:
    path = f"graphs/{name}.tsv.gz"
    return ModuleWorkload(name, LINEAR.rules, _first({"edge": path}), 1 << 40, 500, "path", shared=(path,))


def _thesaurus(name: str, path: str) -> ModuleWorkload:
    return ModuleWorkload(name, programs.SKOS, _skos(path), 1 << 40, 300, "narrowerTransitive", "semanticRelation",
                    asked=True, shared=(path,))  # fmt: skip


WORKLOADS = {
    workload.name: workload
    for workload in (
        ModuleWorkload("dag-r-nonlinear", NONLINEAR.rules, _edges(_dag), 10_000, 200, "path", asked=True, single=True),
        ModuleWorkload("dag-r-linear", LINEAR.rules, _edges(_dag), 10_000, 200, "path"),
        _graph("grid150"),
        _graph("gnp10K"),
        _graph("g26013"),
        ModuleWorkload("gene-ontology", programs.HIERARCHY, _first({"is_a": GO[0], "part_of": GO[1]}), 1 << 40, 500,
                 "within", asked=True, shared=GO),
        ModuleWorkload("wordnet", NONLINEAR.rules, _first({"edge": WORDNET}), 1 << 40, 500, "path", asked=True,
                 shared=(WORDNET,)),
        _thesaurus("stw", "skos/stw-skos.ttl.gz"),
        _thesaurus("gemet", "skos/gemet-de.rdf.gz"),
        _thesaurus("uat", "skos/UAT-5.1.0.rdf.gz"),
        ModuleWorkload("relations", programs.relations_rules(PROPERTIES, TRANSITIVE, seed=5), _relations, 8_000, 100,
                 "r31", "r24", asked=True),
        ModuleWorkload("categories-small", programs.CATEGORIES + programs.SEMANTIC_RELATION, _related, 30_000, 300,
                 "narrowerTransitive", "semanticRelation", asked=True),
        ModuleWorkload("categories", programs.CATEGORIES, _categories, 300_000, 400, "narrowerTransitive", asked=True,
                 single=True, forms=("compact",)),
    )
}  # fmt: skip
