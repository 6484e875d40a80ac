"""Facts of a version with later files are the sums of their rows, added up by one task or by several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.backends.spark import stored
from everlog.backends.spark.stored import StoredFacts
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.store import Store
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base, relation

RULES = parse_program("far(?x, ?z) :- near(?x, ?y), near(?y, ?z) . lone(?x) :- near(?x, _), ~far(?x, _) .")
NEAR, FAR, LONE = Predicate("near", 2), Predicate("far", 2), Predicate("lone", 1)


@pytest.mark.parametrize("most", [0, pytest.param(1 << 20, marks=pytest.mark.slow)], ids=["by all", "in one task"])
def test_sums_of_later_rows(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """An explicit fact is deleted and inserted again, a derived one becomes explicit, others are changed once."""
    facts: set[Fact] = {(NEAR, (f'"{i}"', f'"{i + 1}"')) for i in range(30)}
    kb = knowledge_base(RULES, facts, maintain="dredc")
    kb.save(tmp_path / "store")
    kb.update(delete={"near": [("3", "4"), ("20", "21")]}, insert={"near": [("30", "31")]})
    kb.save()
    kb.update(insert={"near": [("3", "4")], "far": [("7", "9")]})
    kb.save()
    expected = naive.flat({predicate: relation(kb, predicate) for predicate in (NEAR, FAR, LONE)})
    explicit = facts - {(NEAR, ('"20"', '"21"'))} | {(NEAR, ('"30"', '"31"')), (FAR, ('"7"', '"9"'))}

    monkeypatch.setattr(stored, "SUMMED_IN_ONE_TASK", most)
    monkeypatch.delattr(StoredFacts, "_summed_by_all" if most else "_summed_in_one_task")
    with setup(spark, tmp_path / "work", RULES) as on_spark:
        on_spark.facts(expected | facts)
        store = Store.open(tmp_path / "store")
        there = StoredFacts(on_spark.space, store, store.version, frozenset([NEAR, FAR, LONE]))
        assert naive.flat(on_spark.listed(there.facts())) == expected
        assert naive.flat(on_spark.listed(there.explicit())) == explicit
