"""Facts of a loop in slices: new facts are found slice by slice, and known facts are not moved."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.backends.spark import factset, known, match
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.known import SLICE, _KeepNew, _WrittenFacts, joined
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.strata import close_strata
from everlog.store.groups import LEAST, MOST
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base

KEYS = ("predicate", "c0", "c1")
IDS = st.sampled_from([LEAST, -1, 0, 1, 2, MOST])
ROWS = st.sets(st.tuples(IDS, IDS, IDS), max_size=12)
IN_A_LOOP = SparkSettings(local_finish=0, plans=PlanSettings(shared_facts=0))
STEPS = """
p(?x, ?y) :- e(?x, ?y) .
p(?x, ?z) :- p(?x, ?y), s(?y, ?z) .
s(?y, ?z) :- p(?y, ?z), e(?y, ?z), ~stop(?z) .
q(?x, ?y, "far") :- p(?x, ?y), q(?y, ?x, ?far) .
p(?y, ?x) :- q(?x, ?x, "far"), p(?x, ?y) .
"""


def slice_of(row: Sequence[int], slices: int) -> int:
    return sum(number % 7 for number in row) % slices


@settings(max_examples=100)
@given(st.lists(ROWS, max_size=5), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_a_round_keeps_what_is_new(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[set[tuple[int, ...]]], slices: int, group: int, batch: int
) -> None:
    directory = tmp_path_factory.mktemp("known")
    known: set[tuple[int, ...]] = set()
    kept: list[_WrittenFacts] = []
    for facts in rounds:
        task = _KeepNew(str(directory), KEYS, joined(each.slices for each in kept))
        rows = sorted((slice_of(fact, slices), *fact) for fact in facts)
        columns = np.array(rows, np.int64).reshape(len(rows), 4).T
        table = pa.table(dict(zip((SLICE, *KEYS), map(pa.array, columns), strict=True)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("everlog.backends.spark.known.SLICE_ROWS", group)
            (result,) = task(table.to_batches(max_chunksize=batch))
        found: _WrittenFacts = pickle.loads(result.column("result")[0].as_py())
        listed = [] if found.file is None else pq.read_table(found.file).to_pylist()
        assert sorted(tuple(row.values()) for row in listed) == sorted(facts - known)
        assert sum(found.sizes.values()) == len(facts - known)
        kept.append(found)
        known |= facts
    for number, pieces in joined(each.slices for each in kept).items():
        groups = [pq.ParquetFile(p.file).read_row_group(i) for p in pieces for i in range(p.first, p.end)]
        assert all(rows.num_rows <= group for rows in groups)
        assert {slice_of(tuple(row.values()), slices) for rows in groups for row in rows.to_pylist()} == {number}


def test_what_any_set_has_is_not_stored_again(spark: Any, tmp_path: Path) -> None:
    program = parse_program(STEPS)
    with setup(spark, tmp_path, program) as on_spark:
        space, predicate = on_spark.space, Predicate("s", 2)

        def rows(numbers: range) -> Any:
            facts = ((space.names.id(predicate), i, -i, *[0] * (len(space.keys) - 3)) for i in numbers)
            return space.table([dict(zip(space.keys, fact, strict=True)) for fact in facts])

        sets: list[Stored] = []
        for numbers in (range(30), range(20, 50), range(40, 55), range(60)):
            sets.append(known.store_new(space, rows(numbers), sets))
        assert [dict(each.sizes) for each in sets] == [{predicate: size} for size in (30, 20, 5, 5)]
        listed = space.read([file for each in sets for file in each.files]).collect()
        assert sorted(row["c0"] for row in listed) == [*range(60)]


def loop_facts() -> set[Fact]:
    e, stop, p, q = (Predicate(name, arity) for name, arity in (("e", 2), ("stop", 1), ("p", 2), ("q", 3)))
    edges: set[Fact] = {(e, (str(i), str(i + 1))) for i in range(7)}
    return {
        *edges,
        (stop, ("3",)),
        (p, ("9", "0")),
        (p, ("4", "4")),
        (q, ("1", "0", '"far"')),
        (q, ("4", "4", '"near"')),
    }


@pytest.mark.slow
def test_known_facts_do_not_move(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No round is joined with the known facts, in any number of files."""
    plans: list[str] = []
    numbers: list[int] = []

    def store_new(space: Workspace, rows: Any, there: Sequence[Stored] = ()) -> Stored:
        plans.append(rows._jdf.queryExecution().optimizedPlan().toString())
        numbers.append(len(there))
        return sliced(space, rows, there)

    sliced = known.store_new
    monkeypatch.setattr(match, "store_new", store_new)
    monkeypatch.setattr(factset, "MOST_FILES", 6)
    program, facts = parse_program(STEPS), loop_facts()
    expected = knowledge_base(program, facts, modules=False).materialise()
    with setup(spark, tmp_path, program) as on_spark:
        on_spark.engine.settings = IN_A_LOOP
        found, statistics = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert isinstance(found, FrameSet)
        assert on_spark.listed(found) == naive.materialise(program, facts)
    assert statistics.instances == expected.instances
    assert not any("LeftOuter" in plan for plan in plans)
    assert len(plans) > 5
    assert max(numbers) < len(plans)


@pytest.mark.slow
def test_plans_of_rounds_do_not_grow(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round reads files, so no step of the rounds before is planned or computed again."""
    sizes: list[int] = []

    def store_new(space: Workspace, rows: Any, there: Sequence[Stored] = ()) -> Stored:
        sizes.append(len(rows._jdf.queryExecution().analyzed().toString().splitlines()))
        return sliced(space, rows, there)

    sliced = known.store_new
    monkeypatch.setattr(match, "store_new", store_new)
    program = parse_program("p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .")
    facts = {(Predicate("e", 2), (str(i), str(i + 1))) for i in range(16)}
    with setup(spark, tmp_path, program) as on_spark:
        on_spark.engine.settings = IN_A_LOOP
        found, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    assert len(sizes) == 16
    assert max(sizes[-5:]) <= max(sizes[:5])
