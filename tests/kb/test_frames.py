"""Columns of data frames become arguments by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from everlog import DataError, KnowledgeBase, LimitError


def frames_of(columns: dict[str, list[str]]) -> list[Any]:
    """A table in every form that has names."""
    arrow, frame = pa.table(columns), pd.DataFrame(columns)
    structured = np.array(list(zip(*columns.values(), strict=True)), [(name, "U9") for name in columns])
    return [columns, arrow, arrow.to_batches()[0], frame, pl.DataFrame(columns), pl.LazyFrame(columns), structured]


def test_columns_of_frames_are_aligned_by_name() -> None:
    for other in frames_of({"dst": ["d"], "src": ["c"]}):
        kb = KnowledgeBase()
        kb.insert("edge", {"src": ["a"], "dst": ["b"]})
        kb.insert("edge", other)
        assert kb["edge"].rows() == [("a", "b"), ("c", "d")]
        assert kb.explain({"edge": other}).answers[0].proof is not None
        kb.delete("edge", other)
        assert kb["edge"].rows() == [("a", "b")]
        change = kb.update(insert={"edge": other, "more": other}, delete={"edge": {"dst": ["b"], "src": ["a"]}})
        assert change.inserted["edge"].rows() == [("c", "d")]
        assert change.inserted["more"].rows() == [("d", "c")]
        assert kb["edge"].rows() == [("c", "d")]


def test_frames_whose_names_disagree_are_refused() -> None:
    for other in frames_of({"from": ["c"], "to": ["d"]}):
        kb = KnowledgeBase()
        kb.insert("edge", {"src": ["a"], "dst": ["b"]})
        for change in (kb.insert, kb.delete, lambda _, rows: kb.update({"edge": rows}, {})):  # noqa: B023
            with pytest.raises(DataError, match=r'column-names.*\n.*columns=\["from", "to"\]'):
                change("edge", other)
        kb.insert("edge", other, columns=["to", "from"])
        assert kb["edge"].rows() == [("a", "b"), ("d", "c")]
        kb.delete("edge", other, columns=["to", "from"])
        assert kb["edge"].rows() == [("a", "b")]


def test_columns_without_names_go_by_position() -> None:
    kb = KnowledgeBase()
    kb.insert("edge", {"src": ["a"], "dst": ["b"]})
    kb.insert("edge", [("c", "d")])
    kb.insert("edge", pd.DataFrame([("e", "f")]))
    kb.insert("edge", np.array([["g", "h"]]))
    kb.insert("edge", pa.table({"c0": ["i"], "c1": ["j"]}))
    kb.insert("edge", kb["edge"].to_arrow())
    kb.insert("edge", pa.table({"c1": ["l"], "c0": ["k"]}))
    assert kb["edge"].rows() == [tuple(pair) for pair in ("ab", "cd", "ef", "gh", "ij", "kl")]


def test_columns_that_are_not_picked_may_hold_anything() -> None:
    kb = KnowledgeBase("edge(?x, ?y) :- link(?x, ?y) .")
    for other in ({"w": [None], "dst": ["b"], "src": ["a"]}, pa.table({"w": [[1]], "dst": ["b"], "src": ["a"]})):
        with pytest.raises(DataError, match=r"3 values\n.*pick columns by name"):
            kb.insert("link", other)
        kb.insert("link", other, columns=["src", "dst"])
    assert kb["edge"].rows() == [("a", "b")]


def test_names_are_remembered_only_if_the_update_succeeds() -> None:
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .", max_facts=3)
    with pytest.raises(LimitError):
        kb.update({"edge": {"from": ["a", "b"], "to": ["b", "c"]}})
    kb.insert("edge", {"src": ["a"], "dst": ["b"]})
    assert kb["edge"].rows() == [("a", "b")]


@pytest.mark.parametrize(
    "data", [{"src": ["a"], "dst": ["b"]}, pd.DataFrame({"src": ["a"], "dst": ["b"]}), [("a", "b")]]
)
def test_picking_no_columns_is_an_error(data: Any) -> None:
    kb = KnowledgeBase("edge(x, y) . raining() .")
    with pytest.raises(DataError, match="has 2 arguments, but the rows have 0 values"):
        kb.insert("edge", data, columns=[])
    for predicate in ("new", "raining"):
        with pytest.raises(DataError, match="no column is picked"):
            kb.insert(predicate, data, columns=[])
    assert len(kb["edge"]) == 1
