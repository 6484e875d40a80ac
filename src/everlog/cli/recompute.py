"""Comparing a store with what follows from its explicit facts, and with its own snapshot."""

from __future__ import annotations

import numpy as np

from everlog.cli.progress import Progress
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.state import State, from_arrays
from everlog.knowledge_base import KnowledgeBase
from everlog.lake import dictionary_of, facts_of
from everlog.lang.parser import parse_file, parse_program
from everlog.lang.printer import print_atom
from everlog.lang.syntax import Atom, Constant, Predicate
from everlog.reasoning.statistics import Listener
from everlog.store.store import Store
from everlog.stores import statistics_of

SHOWN = 5
"""How many facts a finding names."""


def stored_state(store: Store) -> State:
    """The facts of the newest version as the tables have them, not its snapshot."""
    dictionary = dictionary_of(store.terms(), store.info().salt)
    batches = list(store.facts())
    return State(dictionary, facts_of(batches, dictionary, explicit_only=True), facts_of(batches, dictionary))


def wrong_snapshot(store: Store, state: State) -> list[str]:
    """What the snapshot of the newest version, if there is one, and its statistics say that the tables do not."""
    said, findings = store.info().statistics, []
    for name, found in (("facts", state.facts.count), ("explicit", state.explicit.count)):
        if said.get(name, found) != found:
            findings.append(f"there are {found:,} {name}, the statistics say {said[name]:,}")
    kept = store.snapshot()
    if kept is None:
        return findings
    snapshot = _renumbered(from_arrays(kept.arrays, kept.manifest), state.dictionary)
    if snapshot is None:
        return [*findings, "the snapshot has other terms than the tables; remove the directory snapshot/"]
    for name, ours, theirs in (
        ("facts", state.facts, snapshot.facts),
        ("explicit facts", state.explicit, snapshot.explicit),
    ):
        findings += _differences(state.dictionary, ours, theirs, f"{name} of the tables", f"{name} of the snapshot")
    return findings


def _renumbered(snapshot: State, dictionary: Dictionary) -> State | None:
    """A snapshot with the ids of the tables' dictionary; None if it has terms that the tables do not have."""
    known, own = dictionary.base, snapshot.dictionary.base
    ids = np.searchsorted(known.hashes, own.hashes)
    if (ids == len(known)).any() or not np.array_equal(known.hashes[ids], own.hashes):
        return None
    if not dictionary.decode(ids).equals(own.to_arrow()):
        return None
    facts, explicit = (
        FactSet({p: relation.renumbered(ids, len(known)) for p, relation in part.items()})
        for part in (snapshot.facts, snapshot.explicit)
    )
    return State(dictionary, explicit, facts)


def recompute(store: Store, state: State, rules: str | None, progress: Progress) -> list[str]:
    """Reason again from the explicit facts and say how the result differs from the facts stored."""
    info = store.info()
    program = parse_file(rules) if rules is not None else parse_program(info.rules, f"{store.path} (rules)")
    kb = KnowledgeBase.restored(program, state, statistics_of(info.statistics))
    kb.materialise(fresh=True, progress=Listener(progress.round_done))
    found = kb.state()
    stored = state.facts.fitted(len(found.dictionary))
    return _differences(found.dictionary, found.facts, stored, "facts that follow", "facts stored")


def _differences(dictionary: Dictionary, first: FactSet, second: FactSet, one: str, other: str) -> list[str]:
    findings = []
    for left, right, named, missing in ((first, second, one, other), (second, first, other, one)):
        only = left - right
        if only.count:
            shown = ", ".join(_examples(dictionary, only)) + (", ..." if only.count > SHOWN else "")
            findings.append(f"{only.count:,} of the {named} are not among the {missing}: {shown}")
    return findings


def _examples(dictionary: Dictionary, facts: FactSet) -> list[str]:
    found: list[str] = []
    for predicate, relation in facts.items():
        room = SHOWN - len(found)
        texts = [dictionary.decode(column[:room]).to_pylist() for column in relation.columns()]
        rows = list(zip(*texts, strict=True)) if texts else [()] * min(len(relation), 1)
        found += [_fact_text(predicate, row) for row in rows]
        if len(found) >= SHOWN:
            break
    return found


def _fact_text(predicate: Predicate, row: tuple[str, ...]) -> str:
    return print_atom(Atom(predicate, tuple(map(Constant, row))))
