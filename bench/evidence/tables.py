"""The tables of the papers: their ratios beside ours, computed from the result files of the benchmarks.

The papers' data is not available and their machines were larger, so seconds are not compared. The tables compare
ratios: the time of one algorithm divided by that of another. Our inputs are of the same kind as theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.evidence import closure_tables as closures
from bench.evidence import update_tables as updates


@dataclass(frozen=True)
class PaperTable:
    """One table of a paper: its name and title, the benchmark and the parts that measure it, and the function that
    formats it."""

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
