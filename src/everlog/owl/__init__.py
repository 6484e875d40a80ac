"""Ontologies as rules: OWL 2, RDF Schema and SKOS.

>>> from everlog.owl import program_of  # doctest: +SKIP
>>> print(program_of("univ-bench.ttl").text())  # doctest: +SKIP
"""

from __future__ import annotations

from everlog.owl.axioms import Ontology
from everlog.owl.programs import PROFILES, Profile, Translation, program_of, shipped_program
from everlog.owl.reading import is_ontology
from everlog.owl.rules import Untranslated

__all__ = [
    "PROFILES",
    "Ontology",
    "Profile",
    "Translation",
    "Untranslated",
    "is_ontology",
    "program_of",
    "shipped_program",
]
