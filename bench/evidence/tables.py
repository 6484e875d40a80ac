"""The tables of the papers: their ratios beside ours, from what the benchmarks wrote.

Their data is not to be had here, and their machines had many cores and much memory, so seconds say nothing. What is
compared is how many times one algorithm takes what another does. Our instances stand for theirs by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.evidence import closures, updates


@dataclass(frozen=True)
class PaperTable:
    """One table: what it shows, the benchmark that measures it, which parts of that, and how to write it."""

    name: str
    title: str
    suite: str
    parts: tuple[str, ...]
    text: Callable[[Mapping[str, Any]], str]


BREAK_EVEN = ("break-even",)
ROBUST = ("lubm", "mutual", "symmetric-transitive", "forest", "gene-ontology", "thesis-example-1")


TABLES = {
    each.name: each
    for each in (
        PaperTable("journal-3", "Deleting 1,000 facts, uniform samples", "maintenance", ROBUST, updates.deleting),
        PaperTable("journal-3-strata", "Unstratified over stratified", "maintenance", ("lubm",), updates.stratifying),
        PaperTable("journal-4", "Derivations by phase, stratified", "maintenance", ROBUST, updates.breakdown),
        PaperTable("journal-5", "Random walks on cliques", "maintenance", ("symmetric-transitive",), updates.walking),
        PaperTable("journal-6", "Adding 1,000 facts", "maintenance", ROBUST, updates.adding),
        PaperTable("journal-7", "Break-even points", "maintenance", BREAK_EVEN, updates.break_even),
        PaperTable("journal-8", "Deleting the largest of them", "maintenance", BREAK_EVEN, updates.large_deleting),
        PaperTable("journal-9", "Adding it again", "maintenance", BREAK_EVEN, updates.large_adding),
        PaperTable("thesis-4.2", "Counters: deleting 1,000 facts", "maintenance", ROBUST, updates.small_with_counters),
        PaperTable("thesis-4.3", "Counters: large deletions", "maintenance", BREAK_EVEN, updates.large_with_counters),
        PaperTable("thesis-4.4", "Rematerialising with counters", "maintenance", ROBUST, updates.counters),
        PaperTable("modular-1", "Materialising with modules (thesis, table 5.6)", "modules", (), closures.modular),
        PaperTable("modular-2", "Updates with modules (thesis, table 5.7)", "modules", (), closures.modular_updates),
        PaperTable("storage-1", "Category graphs", "modules", ("categories-small", "categories"), closures.categories),
        PaperTable("storage-2", "Several storage schemes", "modules",
                   ("dag-r-nonlinear", "relations", "categories-small", "stw", "gemet", "uat"), closures.schemes),
        PaperTable("storage-3", "Queries: finding answers in compact relations over in plain pairs", "modules",
                   ("dag-r-nonlinear", "relations", "categories-small", "stw"), closures.queries),
    )
}  # fmt: skip
