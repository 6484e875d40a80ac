"""Export of facts as triples: N-Triples or Turtle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from everlog.cli.left_out import LeftOut
from everlog.cli.writers import sink
from everlog.engine.state import State
from everlog.engine.tables import argument_names
from everlog.lang.internal import TRIPLE
from everlog.lang.printer import print_text
from everlog.lang.syntax import Predicate
from everlog.lang.terms import RDF_TYPE
from everlog.query.answers import Rows
from everlog.query.cells import data_of, joined, ntriples_terms
from everlog.query.sparql.formats import write_turtle
from everlog.query.triples import are_triples, may_be_triples, merged

BARE = "the predicate is not an IRI"
ARITY = "triples are facts with one or two arguments"
SUBJECT = "the first argument is neither an IRI nor a blank node"
NO_RDF = "RDF has no triple whose subject is a literal or whose predicate is not an IRI"


def export_triples(
    state: State,
    predicates: Sequence[Predicate],
    form: str,
    output: str | None,
    prefixes: Mapping[str, str],
    *,
    explicit: bool = False,
    skip: bool = False,
) -> tuple[int, LeftOut]:
    """Write facts of some predicates as triples; returns the number of facts written, and those left out.

    A fact that cannot be a triple is an error unless such facts are skipped. Facts that rules derive over ``triple``
    beyond RDF is left out in any case.
    """
    chosen = state.explicit if explicit else state.facts
    refused, derived = LeftOut(), LeftOut()
    for predicate in predicates:
        _check(state, predicate, explicit, refused, derived)
    if not skip:
        refused.refuse()
    facts = chosen.restricted(filter(may_be_triples, predicates))
    with sink(output) as file:
        if form == "ttl":
            write_turtle(_blocks({TRIPLE: merged(state.dictionary, facts)}), file, prefixes)
        else:
            for block in _blocks({p: _rows(state, p, explicit) for p in facts}):
                file.write(block)
    left_out = LeftOut({**refused.reasons, **derived.reasons})
    return sum(len(chosen.relation(p)) for p in predicates) - len(left_out), left_out


def _rows(state: State, predicate: Predicate, explicit: bool) -> Rows:
    facts = state.explicit if explicit else state.facts
    return Rows(state.dictionary, facts.relation(predicate), argument_names(predicate.arity))


def _check(state: State, predicate: Predicate, explicit: bool, refused: LeftOut, derived: LeftOut) -> None:
    """Count the facts of a predicate that are not triples."""
    rows = _rows(state, predicate, explicit)
    if not may_be_triples(predicate):
        refused.add(ARITY if predicate.name.startswith("<") else BARE, predicate, len(rows))
        return
    wrong = _count_no_triples(predicate, rows)
    given = _count_no_triples(predicate, _rows(state, predicate, True)) if predicate == TRIPLE and wrong else wrong
    refused.add(NO_RDF if predicate == TRIPLE else SUBJECT, predicate, given)
    derived.add(f"derived, but {NO_RDF}", predicate, wrong - given)


def _count_no_triples(predicate: Predicate, rows: Rows) -> int:
    """The number of rows that are not triples; rows are only checked one by one if some first term cannot be a
    subject."""
    if predicate != TRIPLE and pc.all(are_triples(predicate, [rows.terms(0)])).as_py() is not False:
        return 0
    return sum(pc.sum(pc.invert(are_triples(predicate, texts))).as_py() for texts in rows.text_batches(len(rows)))


def _blocks(parts: Mapping[Predicate, Rows]) -> Iterator[bytes]:
    """The blocks of lines for those rows that are triples."""
    for predicate, rows in parts.items():
        name = print_text(predicate.name)
        for texts in rows.text_batches(len(rows)):
            mask = are_triples(predicate, texts)
            columns: list[Any] = [ntriples_terms(column.filter(mask)) for column in texts]
            if predicate == TRIPLE:
                pieces = [columns[0], " ", columns[1], " ", columns[2], " .\n"]
            elif predicate.arity == 2:
                pieces = [columns[0], f" {name} ", columns[1], " .\n"]
            else:
                pieces = [columns[0], f" {RDF_TYPE} {name} .\n"]
            yield bytes(data_of(joined(pieces)))
