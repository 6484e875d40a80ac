"""Published closure sizes, and the sizes that the modules compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.generators import Edges
from bench.inputs import is_here
from bench.modules.data import RDFS, SKOS, read_rdf, read_tables
from bench.modules.setting import Setting
from bench.programs import LINEAR, NONLINEAR
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class Published:
    """A relation of the shared data and the number of pairs in its transitive closure."""

    name: str
    shared: tuple[str, ...]
    pairs: int
    predicates: tuple[str, ...] = ()
    """IRIs, for an RDF file; ^ before an IRI means its inverse."""

    def edges(self) -> Edges:
        if self.predicates:
            return read_rdf(self.shared[0], {"edge": self.predicates})["edge"]
        return np.concatenate(list(read_tables({path: path for path in self.shared}).values()))


def _graph(name: str, pairs: int) -> Published:
    return Published(name, (f"graphs/{name}.tsv.gz",), pairs)


def _hierarchy(pairs: int, *names: str) -> Published:
    return Published(" + ".join(names), tuple(f"hierarchies/{name}.tsv.gz" for name in names), pairs)


BROADER = (f"{SKOS}broader", f"^{SKOS}narrower")
PUBLISHED = (
    _graph("g7035", 146_120),
    _graph("g21693", 501_755),
    _graph("g23874", 481_121),
    _graph("g26013", 21_402_960),
    _graph("g48232", 6_859_653),
    _graph("g88234", 2_508_102),
    _graph("g103689", 11_947_132),
    _graph("g121544", 329_438),
    _graph("tree11", 805_001),
    _graph("grid150", 131_675_775),
    _graph("gnp10K", 100_000_000),
    _hierarchy(473_264, "go-2023-is_a"),
    _hierarchy(427_256, "go-2024-is_a"),
    _hierarchy(578_825, "go-2023-is_a", "go-2023-part_of"),
    _hierarchy(560_620, "go-2024-is_a", "go-2024-part_of"),
    _hierarchy(698_587, "wordnet-3.0-hypernym"),
    _hierarchy(698_873, "wordnet-3.1-hypernym"),
    _hierarchy(723_453, "wordnet-oewn-2022-hypernym"),
    Published("stw", ("skos/stw-skos.ttl.gz",), 45_791, BROADER),
    Published("gemet", ("skos/gemet-de.rdf.gz",), 35_048, BROADER),
    Published("uat", ("skos/UAT-5.1.0.rdf.gz",), 9_361, BROADER),
    Published("ro", ("ontologies/ro.owl.gz",), 2_440, (f"{RDFS}subPropertyOf",)),
    Published("doid", ("ontologies/doid.nt.gz",), 82_772, (f"{RDFS}subClassOf",)),
)


def closure(edges: Edges, rules: str) -> tuple[int, float]:
    """The number of pairs in the closure of a relation, and the seconds to compute it."""
    step = Setting(rules, {"edge": edges}, "compact").materialised()
    assert step.state is not None
    return len(step.state.facts.relation(Predicate("path", 2))), step.seconds


def closure_sizes() -> dict[str, Any]:
    """The sizes of all closures whose data is available, by the linear and by the nonlinear rule."""
    records = []
    for published in PUBLISHED:
        if is_here(published):
            edges = published.edges()
            results = {program.name: closure(edges, program.rules) for program in (LINEAR, NONLINEAR)}
            counted = {name: pairs for name, (pairs, _) in results.items()}
            seconds = {name: spent for name, (_, spent) in results.items()}
            record = {"name": published.name, "edges": len(edges), "published": published.pairs}
            records.append({**record, "pairs": counted, "seconds": seconds})
    return {"sizes": records}
