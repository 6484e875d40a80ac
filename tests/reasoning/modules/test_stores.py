"""Closures in stores: listed as pairs, repaired by their changes, opened with or without modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everlog
from everlog import KnowledgeBase

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
near(?x, ?y) :- edge(?x, ?y), path(?y, ?x) .
near(?x, ?y) :- near(?y, ?x) .
near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .
lonely(?x) :- edge(?x, _), ~near(?x, _) .
"""
NAMES = ("edge", "path", "near", "lonely")


def contents(kb: KnowledgeBase) -> dict[str, set[object]]:
    return {name: set(kb[name]) for name in NAMES}


def edges(random: np.random.Generator, size: int) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in random.integers(0, 25, (size, 2))]


def test_versions_of_a_closure(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    kb, plain = KnowledgeBase(RULES), KnowledgeBase(RULES, modules=False)
    history = []
    first = edges(random, 30)
    for each in (kb, plain):
        each.insert("edge", first)
    kb.save(tmp_path / "kb")
    history.append(contents(plain))
    for step in range(8):
        delete: dict[Any, Any] = {"edge": [first[i] for i in random.integers(0, len(first), 3)]}
        insert: dict[Any, Any] = {"edge": edges(random, 2), "path": edges(random, step % 2)}
        insert = {name: rows for name, rows in insert.items() if rows}
        if step == 4:
            kb = everlog.open(tmp_path / "kb")
            assert kb.program.external
        before = contents(plain)
        change = kb.update(insert, delete)
        plain.update(insert, delete)
        after = contents(plain)
        assert {n: set(change.inserted.get(n, ())) for n in NAMES} == {n: after[n] - before[n] for n in NAMES}
        assert {n: set(change.deleted.get(n, ())) for n in NAMES} == {n: before[n] - after[n] for n in NAMES}
        if kb.save() == len(history):
            history.append(after)
    for version, expected in enumerate(history):
        assert contents(everlog.open(tmp_path / "kb", version)) == expected


@pytest.mark.long
@pytest.mark.parametrize("modules", [True, False])
@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "counting", "auto"])
def test_opened_either_way(tmp_path: Path, modules: bool, algorithm: str) -> None:
    """Counters of modules and of rules differ, so a store opened with the other setting counts again."""
    random = np.random.default_rng(7)
    kb = KnowledgeBase(RULES, modules=not modules)
    kb.insert("edge", edges(random, 30))
    kb.save(tmp_path / "kb")
    other = everlog.open(tmp_path / "kb", modules=modules)
    assert bool(other.program.external) is modules
    for _ in range(4):
        delete: dict[Any, Any] = {"edge": kb["edge"].rows()[::7]}
        other.update(delete=delete, algorithm=algorithm)  # type: ignore[arg-type]
        kb.update(delete=delete)
        other.save()
        assert contents(other) == contents(kb) == contents(everlog.open(tmp_path / "kb"))


def test_nothing_is_listed_for_counting() -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [(i, i + 1) for i in range(3_000)])
    assert len(kb["path"]) == 3_000 * 3_001 // 2
    assert (0, 3_000) in kb["path"]
    assert kb.query("path(0, ?x)").rows()[:2] == [(1,), (2,)]
    assert kb.nbytes < 2_000_000
