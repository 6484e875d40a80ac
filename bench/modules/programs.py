"""Programs whose rules are mostly closures and unions."""

from __future__ import annotations

import numpy as np

CATEGORIES = """
broaderTransitive(?x, ?y) :- broader(?x, ?y) .
broaderTransitive(?x, ?z) :- broaderTransitive(?x, ?y), broaderTransitive(?y, ?z) .
narrowerTransitive(?x, ?y) :- broaderTransitive(?y, ?x) .
broaderTransitive(?x, ?y) :- narrowerTransitive(?y, ?x) .
"""
"""The rules of SKOS about transitive properties."""

SEMANTIC_RELATION = """
semanticRelation(?x, ?y) :- broaderTransitive(?x, ?y) .
semanticRelation(?x, ?y) :- narrowerTransitive(?x, ?y) .
semanticRelation(?x, ?y) :- related(?x, ?y) .
related(?x, ?y) :- related(?y, ?x) .
"""

SKOS = f"""
{CATEGORIES}
{SEMANTIC_RELATION}
narrowerTransitive(?x, ?y) :- narrower(?x, ?y) .
narrowerTransitive(?x, ?z) :- narrowerTransitive(?x, ?y), narrowerTransitive(?y, ?z) .
narrower(?x, ?y) :- broader(?y, ?x) .
broader(?x, ?y) :- narrower(?y, ?x) .
semanticRelation(?x, ?y) :- mappingRelation(?x, ?y) .
mappingRelation(?x, ?y) :- closeMatch(?x, ?y) .
mappingRelation(?x, ?y) :- exactMatch(?x, ?y) .
mappingRelation(?x, ?y) :- broadMatch(?x, ?y) .
mappingRelation(?x, ?y) :- narrowMatch(?x, ?y) .
mappingRelation(?x, ?y) :- relatedMatch(?x, ?y) .
broader(?x, ?y) :- broadMatch(?x, ?y) .
narrower(?x, ?y) :- narrowMatch(?x, ?y) .
related(?x, ?y) :- relatedMatch(?x, ?y) .
broadMatch(?x, ?y) :- narrowMatch(?y, ?x) .
narrowMatch(?x, ?y) :- broadMatch(?y, ?x) .
relatedMatch(?x, ?y) :- relatedMatch(?y, ?x) .
closeMatch(?x, ?y) :- closeMatch(?y, ?x) .
closeMatch(?x, ?y) :- exactMatch(?x, ?y) .
exactMatch(?x, ?y) :- exactMatch(?y, ?x) .
exactMatch(?x, ?z) :- exactMatch(?x, ?y), exactMatch(?y, ?z) .
inScheme(?x, ?y) :- topConceptOf(?x, ?y) .
topConceptOf(?x, ?y) :- hasTopConcept(?y, ?x) .
hasTopConcept(?x, ?y) :- topConceptOf(?y, ?x) .
concept(?x) :- semanticRelation(?x, ?y) .
concept(?y) :- semanticRelation(?x, ?y) .
concept(?x) :- topConceptOf(?x, ?y) .
"""
"""The datalog subset of the SKOS schema."""

HIERARCHY = """
within(?x, ?y) :- is_a(?x, ?y) .
within(?x, ?y) :- part_of(?x, ?y) .
within(?x, ?z) :- within(?x, ?y), within(?y, ?z) .
"""


def property_parents(properties: int, roots: int, seed: int) -> list[int | None]:
    """A random hierarchy of properties: the parent of each property is an earlier one; the first ``roots`` have none.

    >>> property_parents(4, 2, seed=1)[:2]
    [None, None]
    """
    random = np.random.default_rng(seed)
    return [None if number < roots else int(random.integers(number)) for number in range(properties)]


def relations_rules(properties: int, transitive: int, seed: int) -> str:
    """Rules about properties ``r0, r1, ...`` in the manner of the Relations Ontology.

    The first ``transitive`` properties are roots. Each other property has a rule into its parent, inverted for one in
    ten. A number ``transitive`` of them are transitive.

    >>> relations_rules(3, 1, seed=2).count(":-")
    3
    """
    random = np.random.default_rng(seed)
    chosen = transitive + random.choice(properties - transitive, transitive, replace=False)
    lines = [f"r{i}(?x, ?z) :- r{i}(?x, ?y), r{i}(?y, ?z) ." for i in chosen]
    for number, parent in enumerate(property_parents(properties, transitive, seed)):
        if parent is not None:
            ends = "?y, ?x" if random.random() < 0.1 else "?x, ?y"
            lines.append(f"r{parent}(?x, ?y) :- r{number}({ends}) .")
    return "\n".join(lines)
