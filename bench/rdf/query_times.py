"""The 14 queries over the materialisation of the lower program, by Everlog and by pyoxigraph.

Both hold equal sets of triples in memory. Each query runs several times, and all answers are taken as Python objects.
The first time is what a user waits; the best time is what the system can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bench.rdf.data import TYPE, queries

REPEATS = 5
SECONDS = 2.0
"""Maximum seconds for the runs of a query, after the second run. ``REPEATS`` is their maximum number."""

TRIPLES = "materialised.nt"


def everlog(directory: str) -> dict[str, Any]:
    """Materialise, run the queries, and write the materialisation to a file for the other systems."""
    import everlog
    from bench.rdf.reasoners import program

    everlog.KnowledgeBase(program(Path(directory), "lower", "ontology.ttl"), maintain="none").sparql("ASK {}")
    began = perf_counter()
    kb = everlog.KnowledgeBase(program(Path(directory), "lower", "data.nt"), maintain="none")
    kb.materialise()
    loaded = perf_counter() - began

    def rows(text: str) -> list[Any]:
        return kb.sparql(text).rows()

    results = {name: timed(partial(rows, text)) for name, text in queries().items()}
    _export(kb, Path(directory, TRIPLES))
    return {"load": loaded, "triples": kb.statistics.facts, "queries": results}


def pyoxigraph(directory: str) -> dict[str, Any]:
    """Load the materialisation and run the queries."""
    import pyoxigraph as ox

    began = perf_counter()
    store = ox.Store()
    store.query("ASK {}")
    store.bulk_load(path=str(Path(directory, TRIPLES)), format=ox.RdfFormat.N_TRIPLES)
    loaded = perf_counter() - began

    def rows(text: str) -> list[Any]:
        solutions: Any = store.query(text)
        return [tuple(row) for row in solutions]

    results = {name: timed(partial(rows, text)) for name, text in queries().items()}
    return {"load": loaded, "triples": len(store), "queries": results}


def timed(ask: Callable[[], list[Any]]) -> dict[str, Any]:
    """The number of answers, and the seconds of the first and of the best run."""
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < REPEATS and sum(seconds) < SECONDS):
        began = perf_counter()
        rows = ask()
        seconds.append(perf_counter() - began)
    return {"answers": len(rows), "first": seconds[0], "best": min(seconds)}


def _export(kb: Any, path: Path) -> None:
    """Write all facts as N-Triples."""
    with path.open("wb") as file:
        for predicate in kb.predicates:
            subjects, *values = kb[predicate].texts()
            if not len(subjects):
                continue
            verb = f"<{TYPE}>" if predicate.arity == 1 else predicate.name
            texts = (f" {verb} ", predicate.name, " .\n", "")
            between, name, end, nothing = (pa.scalar(text, pa.large_string()) for text in texts)
            lines = pc.binary_join_element_wise(subjects, between, *(values or [name]), end, nothing)
            file.write("".join(lines.to_pylist()).encode())


ASKING = {"everlog": everlog, "pyoxigraph": pyoxigraph}


def measure_queries(system: str, directory: str) -> dict[str, Any]:
    return ASKING[system](directory)
