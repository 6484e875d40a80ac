"""Comparing a store with the facts recomputed from its explicit facts, and with its own snapshot."""

from __future__ import annotations

from typing import Any

import numpy as np

from everlog.engine.dictionary import Dictionary
from everlog.engine.difference import Difference, applied, counts_changed, state_of_rows
from everlog.engine.factset import FactSet
from everlog.engine.state import State
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import StoreHandle
from everlog.kb.stores import how_made, statistics_of, with_state
from everlog.lang.parser import parse_file, parse_stored
from everlog.lang.printer import print_atom
from everlog.lang.syntax import Atom, Constant, Predicate
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.statistics import Listener
from everlog.store.states import SnapshotState, mapped_state
from everlog.store.store import Store

SHOWN = 5
"""Maximum number of facts that a finding names."""


def wrong_statistics(store: Store, state: State) -> list[str]:
    """Findings about statistics of the newest version that do not agree with its tables."""
    statistics, findings = store.info().statistics, []
    for name, found in (("facts", _facts(store, state).count), ("explicit", state.explicit.count)):
        if statistics.get(name, found) != found:
            findings.append(f"there are {found:,} {name}, the statistics say {statistics[name]:,}")
    return findings


def _facts(store: Store, state: State) -> FactSet:
    """All facts of the newest version, including those that the tables do not list."""
    return with_state(store, store.info(), state).state().facts if state.generated else state.facts


def wrong_snapshot(store: Store, state: State) -> list[str]:
    """Findings about the snapshot of the newest version, if there is one, that does not agree with the tables."""
    findings: list[str] = []
    kept = store.snapshot()
    if kept is None:
        return findings
    held = mapped_state(kept)
    if held is None:
        return ["the snapshot has places or ids that are out of bounds"]
    snapshot = _renumbered(held.state.ranked(), state.dictionary)
    if snapshot is None:
        return ["the snapshot has other terms than the tables"]
    for name, ours, theirs in (
        ("facts", state.rows, snapshot.rows),
        ("explicit facts", state.explicit, snapshot.explicit),
    ):
        findings += _differences(state.dictionary, ours, theirs, f"{name} of the tables", f"{name} of the snapshot")
    findings += _wrong_counters(state, snapshot, "in the tables", "in the snapshot")
    return findings or _wrong_graphs(store, held, _facts(store, state))


def _wrong_graphs(store: Store, held: SnapshotState, facts: FactSet) -> list[str]:
    """Findings about graphs in a snapshot that stand for a wrong number of facts."""
    if held.known() is None:
        return []
    kb = with_state(store, store.info(), held.state)
    kb.adopt(held.state, StoreHandle.at(store.path, store.version, store.info().writer, held))
    found = kb.facts_with_hidden()
    counts = ((p, len(found.relation(p)), len(facts.relation(p))) for p in kb.program.external)
    return [f"the graph of {p} in the snapshot has {n:,} pairs, not {m:,}" for p, n, m in counts if n != m]


def _renumbered(snapshot: State, dictionary: Dictionary) -> State | None:
    """A snapshot with the ids of the tables' dictionary; None if it has terms that the tables do not have."""
    known, own = dictionary.base, snapshot.dictionary.base
    ids = np.searchsorted(known.hashes, own.hashes)
    if (ids == len(known)).any() or not np.array_equal(known.hashes[ids], own.hashes):
        return None
    if not dictionary.decode(ids).equals(own.to_arrow()):
        return None
    rows, explicit = (
        FactSet({p: relation.renumbered(ids, len(known)) for p, relation in part.items()})
        for part in (snapshot.rows, snapshot.explicit)
    )
    nr, rec = (None if counts is None else counts.renumbered(ids, len(known)) for counts in (snapshot.nr, snapshot.rec))
    return state_of_rows(dictionary, explicit, rows, (nr, rec), snapshot.generated)


def recompute(
    store: Store, state: State, rules: str | None = None, progress: Listener | None = None, **limits: Any
) -> list[str]:
    """Findings about stored facts that differ from those derived again from the explicit facts, within limits."""
    info = store.info()
    program = parse_file(rules) if rules is not None else parse_stored(info.rules, f"{store.path} (rules)")
    maintain: Maintain = "none" if state.nr is None or rules is not None else "dredc"
    statistics = statistics_of(info.statistics)
    if rules is not None and state.generated:
        state = with_state(store, store.info(), state).listed()
    kb = KnowledgeBase.restored(program, state, statistics, maintain=maintain, **how_made(statistics), **limits)
    kb.materialise(fresh=True, progress=progress)
    found = kb.stored(state.generated)
    stored = applied(state, Difference(), dictionary=found.dictionary)
    wrong = _differences(found.dictionary, found.rows, stored.rows, "facts that follow", "facts stored")
    return wrong if wrong or maintain == "none" else _wrong_counters(found, stored, "in fact", "as stored")


def _wrong_counters(first: State, second: State, one: str, other: str) -> list[str]:
    """Findings about different counters in two states with equal ids."""
    findings = []
    for name in ("nr", "rec"):
        left, right = getattr(first, name), getattr(second, name)
        if (left is None) != (right is None):
            findings.append(f"the counters {name} are kept only {other if left is None else one}")
        elif left is not None:
            wrong = {p: len(multiset) for p, multiset in counts_changed(right, left).items()}
            findings += [f"{name} of {n:,} facts of {p} is not {other} what it is {one}" for p, n in wrong.items()]
    return findings


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
