"""The readers give the same facts in process and on Spark, and the same bad rows."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.backends import executors as tasks
from everlog.backends.executors import SparkRunner, runner_of
from everlog.engine.hashing import hash_text, hash_texts
from everlog.ingest.dictionary import new_terms
from everlog.ingest.facts import load_columns
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow, Split
from everlog.ingest.splits import splits
from everlog.ingest.stage import Staged, pack, stage
from everlog.lang.codes import Code
from everlog.lang.errors import DataError
from tests.ingest.reading import split_at

Fact = tuple[str, ...]

KIND = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
NTRIPLES = "".join(
    f'<http://e.org/{i % 7}> <http://e.org/p{i % 3}> "v{i}\\u00e9"@EN .\n'
    f"<http://e.org/{i}> {KIND} <http://e.org/C{i % 5}> .\n_:b{i} <http://e.org/p0> _:b0 .\n"
    for i in range(60)
)
ROWS = [(f"n{i % 40}", str(i % 13), "quoted, \n and spread") for i in range(200)]


def write_csv(path: Path, rows: Sequence[Sequence[str]] = ROWS) -> None:
    path.write_text("".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) + "\n" for row in rows))


def write_tsv(path: Path) -> None:
    path.write_text("".join(f"{a}\t{b}\n" for a, b, _ in ROWS))


def write_parquet(path: Path) -> None:
    table = pa.table({"a": list(range(300)), "b": [f"é{i % 9}" for i in range(300)], "c": [i / 4 for i in range(300)]})
    pq.write_table(table, path, row_group_size=50)


def write_delta(path: Path) -> None:
    from deltalake import write_deltalake

    for part in range(3):
        write_deltalake(path, pa.table({"a": [part, part + 1], "b": ["x", None if part == 5 else "y"]}), mode="append")


def write_directory(path: Path) -> None:
    path.mkdir()
    write_tsv(path / "one.tsv")
    write_csv(path / "two.csv")
    (path / "three.nt").write_text(NTRIPLES)
    with gzip.open(path / "four.nt.gz", "wt") as file:
        file.write(NTRIPLES)


def gzipped(write: Callable[[Path], None]) -> Callable[[Path], None]:
    def write_compressed(path: Path) -> None:
        plain = path.with_suffix("")
        write(plain)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()

    return write_compressed


def ntriples(path: Path) -> None:
    path.write_text(NTRIPLES)


WRITERS: dict[str, Callable[[Path], None]] = {
    "e.csv": write_csv,
    "e.tsv": write_tsv,
    "e.facts": write_tsv,
    "e.tsv.gz": gzipped(write_tsv),
    "e.csv.gz": gzipped(write_csv),
    "e.parquet": write_parquet,
    "e": write_delta,
    "e.nt": ntriples,
    "e.nq": ntriples,
    "e.ttl": ntriples,
    "e.nt.gz": gzipped(ntriples),
    "all": write_directory,
}


def in_process(pieces: Sequence[Split], options: ReadOptions) -> tuple[list[Fact], list[BadRow]]:
    bad: list[BadRow] = []
    facts: list[Fact] = []
    for piece in pieces:
        for batch in read(piece, options, bad):
            facts += rows_of(batch)
    return facts, bad


def rows_of(batch: pa.RecordBatch | pa.Table) -> list[Any]:
    columns = (column.to_pylist() for column in batch.columns)
    return [tuple(value for value in row if value is not None) for row in zip(*columns, strict=True)]


def decoded(staged: Staged) -> list[Fact]:
    texts: dict[int, str] = {}
    for batch in load_columns(staged.term_files):
        texts |= dict(rows_of(batch))
    return [tuple(texts[id] for id in row) for batch in load_columns(staged.fact_files) for row in rows_of(batch)]


@pytest.mark.parametrize("target", [97, 64 << 20])
@pytest.mark.parametrize("name", WRITERS)
def test_spark_reads_what_the_readers_read(spark: Any, tmp_path: Path, name: str, target: int) -> None:
    WRITERS[name](tmp_path / name)
    options = ReadOptions(base="http://base.org/")
    sources = resolve([str(tmp_path / name)], options)
    expected, bad = in_process(splits(sources, options), options)
    assert expected
    assert bad == []
    for where in (spark, None):
        staged = stage(runner_of(where), split_at(target, sources, options), options, tmp_path / "work")
        assert (staged.rows, staged.bad_count, staged.bad) == (len(expected), 0, ())
        assert set(decoded(staged)) == set(expected)


def test_globs_and_several_files_for_one_predicate(spark: Any, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"part{number}.tsv").write_text(f"a{number}\tb\n")
    options = ReadOptions()
    pieces = splits(resolve([f"edge={tmp_path}/*.tsv"], options), options)
    staged = stage(SparkRunner(spark), pieces, options, tmp_path / "work")
    assert set(decoded(staged)) == {("edge/2", f'"a{number}"', '"b"') for number in range(30)}
    assert len(staged.fact_files) == 1, "small files share a task"


def test_bad_rows_in_the_middle_of_a_split_file_have_their_lines(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = (1, 57, 58, 163)
    lines = ["only one cell" if number in wrong else f"a{number}\tb" for number in range(200)]
    Path("edge.tsv").write_text("\n".join(lines))
    options = ReadOptions()
    pieces = split_at(100, resolve(["edge.tsv"], options), options)
    assert len(pieces) > 10
    monkeypatch.setattr("everlog.ingest.stage.SMALLEST_TASK", 200)

    with pytest.raises(DataError) as caught:
        stage(SparkRunner(spark), pieces, options, "work")
    found = [(wrong.code, wrong.place.file, wrong.place.line) for wrong in caught.value.diagnostics if wrong.place]
    assert found == [("bad-row", "edge.tsv", number + 1) for number in wrong]
    assert "4 bad rows" in str(caught.value)
    assert "--on-error skip" in str(caught.value)

    staged = stage(SparkRunner(spark), pieces, options, "work", on_error="skip")
    assert [row.place.line for row in staged.bad] == [number + 1 for number in wrong]
    assert (staged.bad_count, staged.rows) == (4, 196)
    assert staged.bad == tuple(in_process(pieces, options)[1])


def test_many_bad_rows_are_counted_and_the_first_listed(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.tsv").write_text("a\tb\n" + "bad\n" * 5000)
    options = ReadOptions()
    pieces = split_at(1000, resolve([str(tmp_path / "edge.tsv")], options), options)
    staged = stage(SparkRunner(spark), pieces, options, tmp_path / "work", on_error="skip")
    assert (staged.bad_count, staged.rows) == (5000, 1)
    assert [row.place.line for row in staged.bad] == list(range(2, 1002))
    with pytest.raises(DataError, match="5,000 bad rows, of which 20 are shown"):
        stage(SparkRunner(spark), pieces, options, tmp_path / "work")


def test_an_unreadable_file_is_an_error_of_the_user(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.tsv.gz").write_bytes(gzip.compress(os.urandom(1 << 18).hex().encode())[:-2000])
    options = ReadOptions(arities={"edge": 2})
    pieces = splits(resolve([str(tmp_path / "edge.tsv.gz")], options), options)
    with pytest.raises(DataError) as caught:
        stage(SparkRunner(spark), pieces, options, tmp_path / "work")
    assert "edge.tsv.gz" in str(caught.value)


@pytest.mark.parametrize("connected", [False, True])
def test_tasks_run_alike_without_a_context(spark: Any, monkeypatch: pytest.MonkeyPatch, connected: bool) -> None:
    if connected:
        monkeypatch.setattr(tasks, "_context", lambda spark: None)
    assert SparkRunner(spark).run(_halved, [2, 4, 6]) == [1, 2, 3]
    with pytest.raises(DataError, match=r"3 is odd(.|\n)*5 is odd"):
        SparkRunner(spark).run(_halved, [3, 4, 5])


def _halved(number: int) -> int:
    if number % 2:
        raise DataError.of(Code.BAD_VALUE, f"{number} is odd")
    return number // 2


def test_a_directory_that_cannot_be_written_is_an_error_of_the_user(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="input-output"):
        stage(SparkRunner(spark), [], ReadOptions(), tmp_path / "file" / "work")
    for where in (spark, None):
        with pytest.raises(DataError, match=r"No such file(.|\n)*gone"):
            runner_of(where).run(_write_where_nothing_is, [str(tmp_path / "gone")])


def _write_where_nothing_is(directory: str) -> None:
    Path(directory, "file").write_text("")


def test_nothing_to_read(spark: Any, tmp_path: Path) -> None:
    staged = stage(SparkRunner(spark), [], ReadOptions(), tmp_path / "work")
    assert staged == Staged(width=2)


def test_a_salt_gives_other_ids(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.tsv").write_text("".join(f"a{number}\tb{number}\n" for number in range(100)))
    options = ReadOptions()
    pieces = split_at(200, resolve([str(tmp_path / "edge.tsv")], options), options)
    staged = stage(SparkRunner(spark), pieces, options, tmp_path / "work", salt=3)
    assert new_terms(SparkRunner(spark), staged.term_files, [], tmp_path / "work").count == 201
    assert hash_text('"a0"', salt=3) in {row[1] for batch in load_columns(staged.fact_files) for row in rows_of(batch)}


def test_fifty_thousand_classes_make_a_handful_of_files(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "c.nt").write_text("".join(f"<http://e.org/i> {KIND} <http://e.org/C{i}> .\n" for i in range(50_000)))
    options = ReadOptions()
    pieces = splits(resolve([str(tmp_path / "c.nt")], options), options)
    staged = stage(SparkRunner(spark), pieces, options, tmp_path / "work")
    assert staged.rows == 50_000
    assert len(staged.fact_files) + len(staged.term_files) <= 8
    assert len(new_terms(SparkRunner(spark), staged.term_files, [], tmp_path / "work").files) <= 4


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=60), st.integers(1, 1 << 62))
def test_ids_are_sparks_xxhash64(spark: Any, texts: list[str], salt: int) -> None:
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    rows = frame.selectExpr("text", "xxhash64(text) AS plain", f"xxhash64({salt}L, text) AS salted").collect()
    array = pa.array([row["text"] for row in rows], pa.string())
    assert [row["plain"] for row in rows] == hash_texts(array).tolist()
    assert [row["salted"] for row in rows] == hash_texts(array, salt=salt).tolist()


def test_small_splits_share_tasks_and_large_ones_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, size in enumerate([1, 90, 2, 35, 3]):
        (tmp_path / f"f{number}.tsv").write_text("a\n" * (5 * size))
    pieces = splits(resolve([str(tmp_path)], ReadOptions()), ReadOptions())
    monkeypatch.setattr("everlog.ingest.stage.SMALLEST_TASK", 100)
    tasks = pack(pieces, wanted=3)
    assert [[Path(piece.path).stem for piece in task] for task in tasks] == [["f1"], ["f3", "f4", "f2", "f0"]]


@pytest.mark.spark
def test_a_task_that_runs_again_changes_nothing(tmp_path: Path) -> None:
    write_tsv(tmp_path / "edge.tsv")
    run_apart(AGAIN, "local[2,3]", tmp_path)


@pytest.mark.slow
def test_a_cluster_with_workers_of_its_own(tmp_path: Path) -> None:
    write_tsv(tmp_path / "edge.tsv")
    run_apart(AGAIN, "local-cluster[2,1,1024]", tmp_path)


AGAIN = """
import os, sys
from pathlib import Path
from everlog.lang.errors import DataError
from everlog.ingest import stage as module
from everlog.ingest.dictionary import new_terms
from everlog.backends.executors import SparkRunner
from everlog.host.session import session
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest import splits as splitting

class FailsOnce(module._ReadTask):
    def __call__(self, pieces):
        part = super().__call__(pieces)
        marker = Path(self.work, "failed")
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return part
        raise RuntimeError("after the files were written")

module._ReadTask = FailsOnce
module.SMALLEST_TASK = 400
spark = session(sys.argv[1])
options = ReadOptions()
splitting.TARGET = 300
pieces = splitting.splits(resolve(["edge.tsv"], options), options)
staged = module.stage(SparkRunner(spark), pieces, options, "work")
assert staged.rows == 200, staged.rows
facts = spark.read.parquet(*staged.fact_files).distinct()
assert facts.count() == len(set(Path("edge.tsv").read_text().split("\\n")) - {""})
assert len(list(Path("work").glob("facts-*"))) > len(staged.fact_files)
assert new_terms(SparkRunner(spark), staged.term_files, [], "work").count == 54
session().stop()
"""


def run_apart(code: str, master: str, directory: Path) -> None:
    """Run code with a Spark of its own, so that the session of the other tests is left alone."""
    script = directory / "apart.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script), master], cwd=directory, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
