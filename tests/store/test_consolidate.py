"""Any sequence of versions reads like a model that applies the changes one by one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.store import Store, parquet
from everlog.store.compaction import compact
from everlog.store.rows import lower_bound
from tests.store.small import Fact, fact, read, write
from tests.store.verified import verify

NAMES = [f"t{i}" for i in range(6)]
FACTS = st.one_of(
    st.just(fact("nothing")),
    st.builds(lambda a: fact("one", a), st.sampled_from(NAMES)),
    st.builds(lambda a, b: fact("two", a, b), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.builds(lambda a, b, c: fact("three", a, b, c), *[st.sampled_from(NAMES[:3])] * 3),
)
STEP = st.one_of(st.just("compact"), st.sets(FACTS, max_size=12))


@settings(max_examples=25)
@given(st.lists(STEP, min_size=1, max_size=6), st.integers(1, 6), st.integers(1, 6))
def test_versions_read_as_the_model(steps: list[str | set[Fact]], file_rows: int, group_rows: int) -> None:
    """Each step is a set of facts to flip; files and row groups are tiny so that runs overlap."""
    with (
        tempfile.TemporaryDirectory() as name,
        mock.patch.object(parquet, "FILE_ROWS", file_rows),
        mock.patch.object(parquet, "FACT_GROUP_ROWS", group_rows),
    ):
        path = Path(name)
        held: set[Fact] = set()
        model: dict[int, set[Fact]] = {write(path): set()}
        for step in steps:
            if isinstance(step, str):
                version = compact(Store.open(path))
            else:
                version = write(path, step - held, step & held)
                held = held ^ step
            model[version] = set(held)
        for version, facts in model.items():
            assert read(path, version) == facts
        assert verify(Store.open(path)) == []


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), unique=True, max_size=30),
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), max_size=30),
)
def test_lower_bound(rows: list[tuple[int, int]], queries: list[tuple[int, int]]) -> None:
    def columns(tuples: list[tuple[int, int]]) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
        return list(np.array(tuples, np.int64).reshape(-1, 2).T)

    rows.sort()
    expected = [sum(row < query for row in rows) for query in queries]
    assert lower_bound(columns(rows), columns(queries)).tolist() == expected
