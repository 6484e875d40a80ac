"""A stream is applied batch by batch, each exactly once, even if processes die in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog import follow, maintain
from everlog.analysis.predicates import Names
from everlog.backends import batches
from everlog.backends.batches import read_batch
from everlog.ingest.operations import OperationReader, Resolved, resolved
from everlog.jobs.stream import StreamMaintainer
from everlog.jobs.update import UpdateJob
from everlog.kb.saving import append
from everlog.lang.errors import DataError, StoreError
from everlog.lang.syntax import Predicate
from everlog.store import Store, begin, steps
from everlog.store.compaction import compact
from tests.running import SOURCES
from tests.store.small import at_step
from tests.store.verified import verify

Row = tuple[Any, ...]

RULES = """
@prefix ex: <http://e.org/> .
path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
edge(a, b) .
"""
CELLS = "op string, predicate string, arguments array<string>"
KINDS = {"op": "string", "predicate": "string", "arguments": "array<string>"}
PREFIXES = {"ex": "http://e.org/"}
NAMES = Names([Predicate("edge", 2), Predicate("flag", 0)], PREFIXES)


def store_at(path: Path) -> Path:
    everlog.KnowledgeBase(RULES).save(path)
    return path


def edges(store: Path) -> set[Row]:
    return set(everlog.open(store)["edge"])


def log(store: Path) -> list[tuple[str, Any]]:
    """Every version's operation, and its positions."""
    opened = Store.open(store)
    infos = map(opened.info, range(opened.version + 1))
    return [(info.operation, {name: at["batch"] for name, at in info.positions.items()}) for info in infos]


def is_closed(store: Path) -> bool:
    """Whether the derived facts are those of the explicit ones."""
    kb = everlog.open(store)
    fresh = everlog.KnowledgeBase(RULES.replace("edge(a, b) .", ""))
    fresh.insert("edge", list(kb["edge"].explicit))
    return set(kb["path"]) == set(fresh["path"]) and not verify(Store.open(store))


# rows ---------------------------------------------------------------------------------------------


def operations(columns: dict[str, Any], kinds: dict[str, str]) -> pa.Table:
    return pa.Table.from_batches([OperationReader.of(kinds, NAMES, PREFIXES).read(pa.record_batch(columns))])


def test_cells_and_values_mean_what_they_mean_in_files() -> None:
    ops, predicates = ["insert", "+", "delete", "-"], ["edge", "ex:p", "<http://e.org/q>", "flag"]
    arguments = [["a", "007"], ["ex:c"], ["1", "2", "3"], []]
    cells = operations({"op": ops, "predicate": predicates, "arguments": arguments}, KINDS)
    assert cells["bad"].null_count == 4
    assert cells["insert"].to_pylist() == [True, True, False, False]
    assert cells["predicate"].to_pylist() == ["edge/2", "<http://e.org/p>/1", "<http://e.org/q>/3", "flag/0"]
    assert cells["arguments"].to_pylist() == [['"a"', '"007"'], ["<http://e.org/c>"], ["1", "2", "3"], []]

    typed = {"op": ops, "predicate": predicates, "c0": [1, 2, 3, None], "c1": ["7", None, "ex:c", None]}
    values = operations(typed, {"op": "string", "predicate": "string", "c0": "bigint", "c1": "string"})
    assert values["predicate"].to_pylist() == ["edge/2", "<http://e.org/p>/1", "<http://e.org/q>/2", "flag/0"]
    assert values["arguments"].to_pylist() == [["1", '"7"'], ["2"], ["3", '"ex:c"'], []]


def test_what_is_wrong_with_rows() -> None:
    rows: list[Row] = [
        ("upsert", "edge", ["a", "b"], 1),
        (None, "edge", ["a", "b"], 1),
        ("+", None, ["a", "b"], 1),
        ("+", "edge", None, 1),
        ("+", "edge", ["a", None], 1),
        ("+", "edge", ["a"], 1),
        ("+", "no name", ["a"], 1),
        ("+", "zz:a", ["a"], 1),
        ("+", "edge", ["a", "b"], None),
        ("+", "edge", ["a", "b"], 1),
    ]
    columns = dict(zip([*KINDS, "seq"], map(list, zip(*rows, strict=True)), strict=True))
    bad = operations(columns, {**KINDS, "seq": "bigint"})["bad"].to_pylist()
    told = [
        "op 'upsert'",
        "op None",
        "predicate is null",
        "arguments",
        "argument is null",
        "2 arguments",
        "no name",
        "zz",
    ]
    assert bad[-1] is None
    for reason, part in zip(bad, [*told, "seq is null"], strict=False):
        assert part in reason.partition(": op=")[0]
    gap = {"op": ["+"], "predicate": ["edge"], "c0": [None], "c1": ["b"]}
    kinds = {"op": "string", "predicate": "string", "c0": "string", "c1": "string"}
    assert "null before" in operations(gap, kinds)["bad"][0].as_py()


def test_numbers_as_seq() -> None:
    """0.0 and -0.0 are the same, and what is no number is no seq."""
    columns = {"op": ["+", "-", "+"], "predicate": ["edge"] * 3, "arguments": [["a", "b"]] * 3}
    read = operations({**columns, "seq": [0.0, -0.0, float("nan")]}, {**KINDS, "seq": "double"})
    assert [bad and bad.partition(":")[0] for bad in read["bad"].to_pylist()] == [None, None, "seq is not a number"]
    assert resolved(read.slice(0, 2)).conflicts


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"op": "string", "predicate": "string"}, "no arguments"),
        ({"predicate": "string", "c0": "int"}, "no op"),
        ({"op": "string", "predicate": "string", "c1": "int"}, "c0, c1"),
        ({**KINDS, "c0": "int"}, "neither"),
        ({**KINDS, "op": "int"}, "op is not string"),
        ({**KINDS, "arguments": "string"}, "arguments is not array<string>"),
    ],
)
def test_columns_that_are_no_operations(columns: dict[str, str], told: str) -> None:
    with pytest.raises(DataError, match=f"wrong-columns.*{told}"):
        OperationReader.of(columns, NAMES, {})


OPERATION = st.tuples(
    st.booleans(), st.sampled_from(["p", "q"]), st.lists(st.sampled_from("ab"), max_size=2), st.integers(0, 3)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(OPERATION, max_size=12))
def test_the_last_operation_counts(rows: list[tuple[bool, str, list[str], int]]) -> None:
    table = pa.table(
        {
            "predicate": pa.array([f"<{name}>/{len(arguments)}" for _, name, arguments, _ in rows], pa.string()),
            "arguments": pa.array([arguments for *_, arguments, _ in rows], pa.list_(pa.string())),
            "insert": pa.array([insert for insert, *_ in rows], pa.bool_()),
            "seq": pa.array([seq for *_, seq in rows], pa.int64()),
        }
    )
    last: dict[Row, set[bool]] = {}
    for insert, name, arguments, seq in rows:
        fact = (f"<{name}>/{len(arguments)}", *arguments)
        newest = max(s for _, n, a, s in rows if (n, a) == (name, arguments))
        if seq == newest:
            last.setdefault(fact, set()).add(insert)
    found = resolved(table)
    assert bool(found.conflicts) == any(len(kinds) == 2 for kinds in last.values())
    if not found.conflicts:
        assert facts_of(found, True) == {fact for fact, kinds in last.items() if kinds == {True}}
        assert facts_of(found, False) == {fact for fact, kinds in last.items() if kinds == {False}}


def facts_of(found: Resolved, insert: bool) -> set[Row]:
    batches = found.insert if insert else found.delete
    rows = [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
    assert len(rows) == len(set(rows))
    return set(rows)


def test_large_batches_are_read_as_small_ones_are(spark: Any, tmp_path: Path) -> None:
    """Rows, bad rows and contradictions give equal results on both sides of the threshold."""
    good: list[Row] = [("+" if i % 3 else "-", "edge", [f"n{i % 20}", str(i % 7)], i) for i in range(200)]
    good += [("+", "wide", ["a", "b", "c", "d"], 1)]
    wrong: list[Row] = [("?", "edge", ["a", "b"], 1), ("+", "edge", ["a"], 2)]
    clash: list[Row] = [("+", "edge", ["x", "y"], 7), ("-", "edge", ["x", "y"], 7)]

    def read(rows: list[Row], most: int, on_error: str) -> Any:
        frame = spark.createDataFrame(rows, f"{CELLS}, seq long").coalesce(2)
        reader = OperationReader.of(dict(frame.dtypes), NAMES, PREFIXES)
        options: Any = {"where": "batch 5 of s", "width": 2, "on_error": on_error}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "IN_PROCESS_ROWS", most)
            return read_batch(frame, reader, tmp_path, **options)

    small, large = read([*good, *wrong], 1000, "skip"), read([*good, *wrong], 0, "skip")
    for found in (small, large):
        assert (found.rows, found.bad_count, found.insert.width) == (203, 2, 4)
        assert found.insert.rows + found.delete.rows == 140 + 1
        assert all("batch 5 of s" in str(row.place) for row in found.bad)
    assert sorted(row.reason for row in small.bad) == sorted(row.reason for row in large.bad)
    assert small.insert.rows == large.insert.rows
    assert len(large.insert.fact_files) > len(small.insert.fact_files) == 1
    with pytest.raises(DataError, match=r"(?s)op '\?' is not.*batch 5 of s was not applied: 2 bad rows"):
        read([*good, *wrong, *clash], 1000, "stop")
    for most in (1000, 0):
        with pytest.raises(DataError, match=r"batch 5 of s inserts and deletes edge\(\"x\", \"y\"\), with the same"):
            read([*clash, *wrong], most, "skip")


# batches ------------------------------------------------------------------------------------------


def maintainer(
    store: Path, checkpoint: str = "one", engine: dict[str, Any] | None = None, **options: Any
) -> Callable[[Any, int], None]:
    """The function that Spark runs for each batch."""
    found = StreamMaintainer(UpdateJob(str(store), **(engine or {})), "s", **options)
    found.checkpoint.set_result(checkpoint)
    return found


LOCAL: dict[str, Any] = {"engine": "local"}
ENGINES = [
    pytest.param(LOCAL, id="local"),
    pytest.param({"engine": "spark"}, id="one task"),
    pytest.param({"engine": "spark", "local_finish": 0}, id="distributed", marks=pytest.mark.slow),
]


def batch(spark: Any, *rows: Row) -> Any:
    return spark.createDataFrame([(op, "edge", list(arguments)) for op, *arguments in rows], CELLS)


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_are_applied_once_and_in_order(spark: Any, tmp_path: Path, engine: dict[str, Any]) -> None:
    store = store_at(tmp_path / "kb")
    seen: list[tuple[int, int]] = []
    apply = maintainer(store, engine=engine, progress=lambda applied: seen.append((applied.batch, applied.version)))
    first, second = batch(spark, ("+", "b", "c"), ("-", "a", "b")), batch(spark, ("-", "b", "c"), ("-", "x", "y"))
    apply(first, 0)
    opened = apply.kb  # type: ignore[attr-defined]
    apply(first, 0)
    apply(second, 1)
    assert apply.kb is opened, "it stays open"  # type: ignore[attr-defined]
    assert (opened is None) == (engine != LOCAL), "where this process reasons"
    maintainer(store, engine=engine)(first, 0)
    maintainer(store, engine=engine)(second, 1)
    apply(batch(spark, ("-", "b", "c")), 2)
    apply(batch(spark), 3)
    assert edges(store) == set()
    assert seen == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert log(store) == [("save", {}), *(("update", {"s": number}) for number in range(4))], "also if nothing changed"
    with pytest.raises(StoreError, match=r"missed-batches.*is 5, but the store has none after 3"):
        apply(first, 5)
    assert is_closed(store)


def test_positions_last(spark: Any, tmp_path: Path) -> None:
    """Updates and compactions of others keep them; a store that is made anew has none."""
    store = store_at(tmp_path / "kb")
    apply = maintainer(store)
    apply(batch(spark, ("+", "b", "c")), 0)
    kb = everlog.open(store)
    kb.update(insert={"edge": [("q", "r")], "wide": [("a", "b", "c", "d")]})
    kb.save()
    compact(Store.open(store))
    assert [at for _, at in log(store)][2:] == [{"s": 0}] * (len(log(store)) - 2)
    assert {operation for operation, _ in log(store)} == {"save", "update", "widen", "compact"}
    apply(batch(spark, ("+", "b", "c"), ("+", "z", "z")), 0)
    apply(batch(spark, ("+", "c", "d")), 1)
    assert edges(store) == {("a", "b"), ("b", "c"), ("q", "r"), ("c", "d")}
    assert is_closed(store)

    everlog.KnowledgeBase(RULES).save(store, overwrite=True)
    assert log(store)[-1] == ("save", {})
    with pytest.raises(StoreError, match=r"missed-batches.*the store has none of it"):
        apply(batch(spark, ("+", "e", "f")), 2)
    maintainer(store, restart=True)(batch(spark, ("+", "e", "f")), 2)
    assert edges(store) == {("a", "b"), ("e", "f")}


def test_another_checkpoint_counts_anew(spark: Any, tmp_path: Path) -> None:
    store = store_at(tmp_path / "kb")
    maintainer(store)(batch(spark, ("+", "b", "c")), 0)
    with pytest.raises(StoreError, match="other-checkpoint"):
        maintainer(store, "two")(batch(spark, ("+", "c", "d")), 0)
    again = maintainer(store, "two", restart=True)
    again(batch(spark, ("+", "c", "d")), 0)
    again(batch(spark, ("+", "x", "y")), 0)
    maintainer(store, "two")(batch(spark, ("+", "d", "e")), 1)
    assert edges(store) == {("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")}
    assert Store.open(store).info().positions == {"s": {"checkpoint": "two", "batch": 1}}


@pytest.mark.parametrize("engine", ENGINES)
def test_another_writer_in_the_middle_of_a_batch(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: dict[str, Any]
) -> None:
    store = store_at(tmp_path / "kb")
    apply = maintainer(store, engine=engine)
    apply(batch(spark, ("+", "b", "c")), 0)

    def meanwhile() -> None:
        kb = everlog.open(store)
        kb.update(insert={"edge": [("q", "r")]}, delete={"edge": [("a", "b")]})
        with begin(store) as transaction:  # one that does not see the others, such as one on another machine
            append(kb, transaction)

    at_step(monkeypatch, steps.FACTS_MOVED, meanwhile)
    apply(batch(spark, ("+", "c", "q")), 1)
    assert edges(store) == {("b", "c"), ("q", "r"), ("c", "q")}
    assert log(store)[1:] == [("update", {"s": 0}), ("update", {"s": 0}), ("update", {"s": 1})]
    assert is_closed(store)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_that_is_wrong_changes_nothing(spark: Any, tmp_path: Path, engine: dict[str, Any]) -> None:
    store = store_at(tmp_path / "kb")
    apply = maintainer(store, engine=engine)
    apply(batch(spark, ("+", "b", "c")), 0)
    wrong = batch(spark, ("+", "x", "y"), ("+", "x"), ("*", "x", "y"))
    with pytest.raises(DataError, match=r"(?s)--> batch 1 of s:2.*--> batch 1 of s:3.*2 bad rows"):
        apply(wrong, 1)
    with pytest.raises(DataError, match=r"batch 1 of s inserts and deletes edge(.|\n)*add a column seq"):
        apply(batch(spark, ("+", "x", "y"), ("-", "x", "y")), 1)
    two = spark.createDataFrame([("+", "new", ["a"]), ("+", "new", ["a", "b"])], CELLS)
    with pytest.raises(DataError, match="arity"):
        apply(two, 1)
    assert log(store) == [("save", {}), ("update", {"s": 0})]
    assert edges(store) == {("a", "b"), ("b", "c")}
    maintainer(store, engine={**engine, "on_error": "skip"})(wrong, 1)
    assert edges(store) == {("a", "b"), ("b", "c"), ("x", "y")}
    assert Store.open(store).info().statistics["bad_rows"] == 2
    assert is_closed(store)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_without_effect_counts_nothing(spark: Any, tmp_path: Path, engine: dict[str, Any]) -> None:
    """A store whose derivations are not counted says so until they are, or a later batch would trust its counters."""
    rules = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?y) :- link(?x, ?y) . edge(a, b) . link(a, b) ."
    everlog.KnowledgeBase(rules, maintain="none").save(tmp_path / "kb")
    apply = maintainer(tmp_path / "kb", engine={**engine, "algorithm": "dredc"})
    apply(batch(spark, ("+", "a", "b")), 0)
    apply(batch(spark, ("-", "a", "b")), 1)
    assert everlog.open(tmp_path / "kb")["path"].rows() == [("a", "b")]


# streams ------------------------------------------------------------------------------------------


def put(directory: Path, number: int, rows: Sequence[Row]) -> None:
    """A file of operations; the stream reads files in the order of their times."""
    lines = [json.dumps({"op": op, "predicate": "edge", "arguments": arguments}) for op, *arguments in rows]
    path = directory / f"{number}.json"
    path.write_text("\n".join(lines))
    os.utime(path, (number, number))


def files(spark: Any, directory: Path) -> Any:
    return spark.readStream.schema(CELLS).option("maxFilesPerTrigger", 1).json(str(directory))


def test_a_stream_keeps_a_store_up_to_date(spark: Any, tmp_path: Path) -> None:
    store, source = store_at(tmp_path / "kb with blanks"), tmp_path / "in"
    source.mkdir()
    put(source, 0, [("+", "b", "c")])
    put(source, 1, [("-", "a", "b"), ("+", "c", "d")])
    now = {"availableNow": True}
    maintain(files(spark, source), store, "a/b", trigger=now).awaitTermination()
    assert edges(store) == {("b", "c"), ("c", "d")}
    assert (store / "streams" / "a%2Fb" / "commits" / "1").exists()
    put(source, 2, [("+", "d", "e")])
    maintain(files(spark, source), store, "a/b", trigger=now).awaitTermination()
    assert [at for _, at in log(store)] == [{}, {"a/b": 0}, {"a/b": 1}, {"a/b": 2}]
    assert is_closed(store)

    elsewhere: Any = {"checkpoint": tmp_path / "other", "trigger": now}
    with pytest.raises(StoreError, match=r"other-checkpoint.*batches 0 to 2 of a/b"):
        maintain(files(spark, source), store, "a/b", **elsewhere)
    assert not spark.streams.active
    maintain(files(spark, source), store, "a/b", restart=True, **elsewhere).awaitTermination()
    assert Store.open(store).info().positions["a/b"]["batch"] == 2
    assert edges(store) == {("b", "c"), ("c", "d"), ("d", "e")}

    put(source, 3, [("+", "x")])
    query = maintain(files(spark, source), store, "a/b", **elsewhere)
    with pytest.raises(Exception, match="batch 3 of a/b was not applied: 1 bad row"):
        query.awaitTermination()
    assert len(log(store)) == 7


def test_what_is_no_stream(spark: Any, tmp_path: Path) -> None:
    store = store_at(tmp_path / "kb")
    with pytest.raises(DataError, match="not-a-stream"):
        maintain(batch(spark, ("+", "b", "c")), store, "s")
    with pytest.raises(DataError, match="wrong-columns"):
        maintain(spark.readStream.schema("a string").json(str(tmp_path)), store, "s")
    with pytest.raises(StoreError, match="not-a-store"):
        maintain(files(spark, tmp_path), tmp_path / "nothing", "s")


KILLED = """
import sys
from everlog import maintain
from everlog.host.session import session
from tests.jobs.test_stream import files
from tests.processes import end_at
spark = session("local[2,4]", spark__sql__shuffle__partitions=1)
end_at(sys.argv[1])
maintain(files(spark, "in"), "kb", "s", trigger={"availableNow": True}, engine=sys.argv[2]).awaitTermination()
"""


def killed_at(step: str, directory: Path, engine: str) -> None:
    """Follow the stream in a process of its own that is killed when it reaches the step."""
    environment = {**os.environ, "PYTHONPATH": SOURCES, "EVERLOG_SPARK_MEMORY": "600m"}
    command = [sys.executable, "-c", KILLED, step, engine]
    ended = subprocess.run(command, env=environment, cwd=directory, check=False, capture_output=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


EVERYWHERE = (steps.FACTS_MOVED, steps.FACTS_COMMITTED, steps.BATCH_APPLIED)


@pytest.mark.parametrize(
    ("deaths", "engine"),
    [
        pytest.param((steps.BATCH_APPLIED,), "local", id="one"),
        pytest.param(EVERYWHERE, "local", id="three", marks=pytest.mark.slow),
        pytest.param(EVERYWHERE, "spark", id="three, Spark reasons", marks=pytest.mark.slow),
    ],
)
def test_killed_before_the_commit_after_it_and_before_sparks_own(
    spark: Any, tmp_path: Path, deaths: Sequence[str], engine: str
) -> None:
    store, source, spark_log = store_at(tmp_path / "kb"), tmp_path / "in", tmp_path / "kb" / "streams" / "s"
    source.mkdir()
    put(source, 0, [("+", "b", "c"), ("-", "a", "b")])
    put(source, 1, [("-", "b", "c"), ("+", "c", "d")])
    put(source, 2, [("+", "d", "e")])

    def batches(kind: str) -> set[str]:
        return {path.name for path in (spark_log / kind).glob("[0-9]*")}

    for step in deaths:
        killed_at(step, tmp_path, engine)
        committed = step != steps.FACTS_MOVED
        assert log(store) == [("save", {}), *[("update", {"s": 0})] * committed]
        assert edges(store) == ({("b", "c")} if committed else {("a", "b")})
        assert (batches("offsets"), batches("commits")) == ({"0"}, set()), "Spark does not know that it is done"

    maintain(files(spark, source), store, "s", trigger={"availableNow": True}, engine=engine).awaitTermination()
    assert log(store) == [("save", {}), *(("update", {"s": number}) for number in range(3))]
    assert (batches("offsets"), batches("commits")) == ({"0", "1", "2"}, {"0", "1", "2"})
    assert edges(store) == {("c", "d"), ("d", "e")}
    assert is_closed(store)


# following ----------------------------------------------------------------------------------------


def test_changes_are_followed_as_they_come(tmp_path: Path) -> None:
    store = store_at(tmp_path / "kb")
    kb = everlog.open(store)
    todo: list[Any] = [
        {"insert": {"edge": [("b", "c")]}},
        {"delete": {"edge": [("a", "b")]}},
        {"insert": {"other": [("x",)]}},
    ]

    def step() -> bool:
        if todo:
            kb.update(**todo.pop(0))
            kb.save()
            compact(Store.open(store))
            return False
        return True

    began = time.monotonic()
    found = [
        (sorted(map(str, inserted)), sorted(deleted["path"]))
        for _, inserted, deleted in follow(store, interval=0.01, stop=step)
    ]
    assert found == [(["edge/2", "path/2"], []), ([], [("a", "b"), ("a", "c")]), (["other/1"], [])]
    assert time.monotonic() - began < 60
    versions = [version for version, *_ in follow(store, 0, stop=lambda: True)]
    assert len(versions) == 3
    assert [version for version, *_ in follow(store, -1, stop=lambda: True)] == [0, *versions]


@pytest.mark.long
def test_the_command_prints_changes_as_they_come(tmp_path: Path) -> None:
    store = store_at(tmp_path / "kb")
    command = [sys.executable, "-m", "everlog.cli", "changes", str(store), "--from", "0", "--follow"]
    command += ["--format", "json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        try:
            kb = everlog.open(store)
            assert following.stdout is not None
            for node in "cd":
                kb.update(insert={"edge": [("b", node)]})
                kb.save()
                lines = [json.loads(following.stdout.readline()) for _ in range(3)]
                assert all(node in line["arguments"] for line in lines)
        finally:
            following.terminate()
