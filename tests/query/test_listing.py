"""The rows of compact relations are listed in blocks, in the order of plain relations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everlog import KnowledgeBase
from everlog.engine.closed import Closed
from everlog.engine.relation import Relation
from everlog.query import answers, ordered
from everlog.reasoning.modules.union.united import United

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .
from(?x, ?z) :- from(?x, ?y), edge(?y, ?z) . from(?x, ?y) :- start(?x, ?y) .
near(?x, ?y) :- path(?x, ?y) . near(?x, ?y) :- path(?y, ?x) . near(?x, ?y) :- beside(?x, ?y) .
"""
GRAPHS = {
    "dense": [(i, j) for i in range(40) for j in range(i, 40, 7)],
    "sparse": [(2 * i, 2 * i + 1) for i in range(300)],
    "cyclic": [(i, (i * 5 + 1) % 90) for i in range(90)],
}


def knowledge_base(edges: list[tuple[int, int]], modules: bool) -> KnowledgeBase:
    kb = KnowledgeBase(RULES, modules=modules, maintain="none")
    kb.insert("edge", [(f"n{a}", f"n{b}") for a, b in edges])
    kb.insert("start", [(f"s{a % 5}", f"n{b}") for a, b in edges[::3]])
    kb.insert("beside", [(a, f"n{b}") for a, b in edges[::2]])
    return kb


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "SORTED_BELOW", 5)
    monkeypatch.setattr(ordered, "BLOCK_ROWS", 64)
    monkeypatch.setattr(answers, "BATCH_ROWS", 50)


@pytest.mark.parametrize("predicate", ["path", "from", "near"])
@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_compact_rows_are_those_of_plain_ones_in_their_order(edges: Any, predicate: str) -> None:
    compact, plain = (knowledge_base(edges, modules)[predicate] for modules in (True, False))
    assert isinstance(compact._relation.base, Closed | United)
    assert isinstance(compact._ordered, ordered.PairListing)
    assert isinstance(plain._ordered, ordered.InMemory)
    assert compact.rows() == plain.rows()
    assert compact.rows(70) == plain.rows(70)
    for start, stop in ((0, 3), (60, 70), (5, 5), (100, 10_000), (0, None)):
        assert compact.texts(start, stop) == plain.texts(start, stop)
    assert compact.to_arrow() == plain.to_arrow()
    assert compact.to_arrow(dictionary=True).combine_chunks() == plain.to_arrow(dictionary=True).combine_chunks()
    assert pa.Table.from_batches(compact.batches(7, 130)).equals(plain.to_arrow().slice(7, 123))


@pytest.mark.parametrize("modules", [True, False])
def test_values_are_there_once(modules: bool) -> None:
    rows = knowledge_base(GRAPHS["dense"], modules)["near"]
    table = rows.to_arrow(dictionary=True)
    expected = rows.to_arrow()
    for name, column in zip(rows.columns, table.columns, strict=True):
        first = column.chunk(0).dictionary
        assert all(chunk.dictionary.equals(first) for chunk in column.chunks)
        assert sorted(first.to_pylist()) == sorted(set(expected[name].to_pylist()))
    assert table.cast(expected.schema).equals(expected)


def test_tables_of_dictionaries_become_frames() -> None:
    rows = knowledge_base(GRAPHS["dense"], True)["path"]
    table = rows.to_arrow(dictionary=True)
    assert table.to_pandas().astype(str).to_numpy().tolist() == rows.to_pandas().astype(str).to_numpy().tolist()
    assert rows.to_polars().rows() == rows.rows()


@pytest.mark.parametrize("dictionary", [True, False])
def test_batches_are_listed_one_after_the_other(dictionary: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = knowledge_base(GRAPHS["dense"], True)["path"]
    listed: list[int] = []
    original = ordered.PairListing._listed

    def counted(self: ordered.PairListing, first: int, last: int) -> Any:
        found = original(self, first, last)
        listed.append(len(found[0]))
        return found

    monkeypatch.setattr(ordered.PairListing, "_listed", counted)
    reader = rows.to_batches(dictionary=dictionary)
    assert reader.schema.names == ["c0", "c1"]
    assert listed == []
    sizes = []
    for batch in reader:
        sizes.append(len(batch))
        assert sum(sizes) <= sum(listed) <= sum(sizes) + 64
    assert sum(sizes) == len(rows)
    assert max(sizes) == 50


def test_terms_of_compact_relations() -> None:
    kb = knowledge_base(GRAPHS["cyclic"], True)
    for predicate in ("path", "from", "near"):
        relation = kb[predicate]._relation
        assert relation.base is not None
        for column in (0, 1):
            expected = np.unique(relation.columns()[column]).tolist()
            assert relation.terms(column).tolist() == expected
        more = relation.extended(Relation.from_columns([[900], [901]]).run())
        assert more.terms(1).tolist() == [*np.unique(relation.columns()[1]).tolist(), 901]
