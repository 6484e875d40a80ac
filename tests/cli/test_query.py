"""Answers in every format."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog import KnowledgeBase
from everlog.store import Store
from tests.cli.running import CommandLine, saved

MET = "<http://example.org/met>(?who, ?whom)"


def test_a_table_has_the_variables_in_order(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("query", family, "parent(?y, ?z), ancestor(?x, ?z)")
    assert done.status == 0
    assert done.out.splitlines() == [
        "y    z    x",
        "---  ---  ---",
        "ann  bob  ann",
        "bob  cid  ann",
        "bob  cid  bob",
    ]
    assert "3 answers" in done.err


def test_wildcards_go_before_duplicates(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("query", family, "ancestor(?x, _)", "--format", "csv")
    assert done.out == "x\nann\nbob\n"


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize(
    ("query", "answer"),
    [("ancestor(ann, cid)", "true"), ("ancestor(cid, ann)", "false"), ("rainy()", "true"), ("parent(_, _)", "true")],
)
def test_a_query_without_variables(
    everlog_command: CommandLine, family: Path, form: str, query: str, answer: str
) -> None:
    assert everlog_command("query", family, query, "--format", form).out == answer + "\n"


def test_csv_reads_back(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("query", family, MET, "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.out, newline="")))
    assert rows[0] == ["who", "whom"]
    assert sorted(rows[1:]) == sorted(
        [
            ["<http://example.org/a>", "<http://example.org/b>"],
            ["<http://example.org/b>", "42"],
            ["<http://example.org/b>", 'a "quoted"\nline'],
            ["alice", "<http://example.org/a>"],
        ]
    )


def test_json_has_numbers_strings_and_texts(everlog_command: CommandLine, tmp_path: Path) -> None:
    place = saved(
        tmp_path / "kb",
        """@prefix ex: <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        v(1, 12345678901234567890) . v(2, 1.50) . v(3, 1.0E0) . v(4, true) . v(5, "42") . v(6, ex:a) .
        v(7, "A"@en) . v(8, "2026-01-01"^^xsd:date) . v(9, "tab\\t and \\\\") . v(10, "ü") .""",
    )
    done = everlog_command("query", place, "v(?n, ?v)", "--format", "json")
    found = {row["n"]: row["v"] for row in map(json.loads, done.out.splitlines())}
    assert found == {
        1: 12345678901234567890,
        2: 1.5,
        3: 1.0,
        4: True,
        5: "42",
        6: "<http://e.org/a>",
        7: '"A"@en',
        8: '"2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date>',
        9: "tab\t and \\",
        10: "ü",
    }
    assert isinstance(found[4], bool)
    assert '"v": 12345678901234567890' in done.out
    assert "ü" in done.out


def test_parquet_and_arrow(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    expected = {"x": ["ann", "ann", "bob"], "y": ["bob", "cid", "cid"]}
    query = ("query", family, "ancestor(?x, ?y)", "--format")
    assert pq.read_table(pa.BufferReader(everlog_command.binary(*query, "parquet"))).to_pydict() == expected
    assert pa.ipc.open_stream(everlog_command.binary(*query, "arrow")).read_all().to_pydict() == expected
    everlog_command.binary(*query, "parquet", "--output", tmp_path / "a.parquet")
    everlog_command.binary(*query, "arrow", "--output", tmp_path / "a.arrow")
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == expected
    assert pa.ipc.open_file(tmp_path / "a.arrow").read_all().to_pydict() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.arrow", "a.parquet"]
    truth = everlog_command.binary("query", family, "rainy()", "--format", "parquet")
    assert pq.read_table(pa.BufferReader(truth)).to_pydict() == {"answer": [True]}


def test_limit(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("query", family, "ancestor(?x, ?y)", "--limit", "2", "--format", "csv")
    assert done.out == "x,y\nann,bob\nann,cid\n"
    assert "2 of 3 answers" in done.err
    assert everlog_command("query", family, "ancestor(?x, ?y)", "--limit", "0", "--format", "csv").out == "x,y\n"


def test_more_rows_than_a_batch(everlog_command: CommandLine, tmp_path: Path) -> None:
    import everlog

    kb = everlog.KnowledgeBase()
    kb.insert("n", {"value": list(range(70_000))})
    kb.save(tmp_path / "kb")
    for form in ("csv", "table", "json"):
        lines = everlog_command("query", tmp_path / "kb", "n(?x)", "--format", form).out.splitlines()
        assert len(lines) == 70_000 + {"csv": 1, "table": 2, "json": 0}[form]
        assert lines[-1] == ('{"x": 69999}' if form == "json" else "69999")


def test_wide_characters_and_line_breaks_keep_a_table_straight(everlog_command: CommandLine, tmp_path: Path) -> None:
    place = saved(tmp_path / "kb", 'v("日本", 1) . v("a\\nb", 2) .')
    assert everlog_command("query", place, "v(?x, ?y)").out.splitlines()[2:] == ["a\\nb  2", "日本  1"]


def test_an_older_version(everlog_command: CommandLine, tmp_path: Path) -> None:
    import everlog

    saved(tmp_path / "kb", "p(a) .")
    everlog.KnowledgeBase("p(b) . p(c) .").save(tmp_path / "kb", overwrite=True)
    query = ("query", tmp_path / "kb", "p(?x)", "--format", "csv")
    assert everlog_command(*query).out == "x\nb\nc\n"
    assert everlog_command(*query, "--at", "0").out == "x\na\n"
    done = everlog_command(*query, "--at", "2")
    assert (done.status, done.out) == (1, "")
    assert "the versions are 0 to 1" in done.err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["ancester(?x, _)"], 1, "did you mean `ancestor`?"),
        (["ancestor(?x"], 1, "unclosed"),
        (["ancestor(?x, ?y)", "--format", "xml"], 2, "--format"),
        (["ancestor(?x, ?y)", "--limit", "-1"], 2, "--limit"),
        ([], 2, "QUERY"),
    ],
)
def test_wrong_queries(
    everlog_command: CommandLine, family: Path, arguments: list[str], status: int, message: str
) -> None:
    done = everlog_command("query", family, *arguments)
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_no_store(everlog_command: CommandLine, tmp_path: Path) -> None:
    done = everlog_command("query", tmp_path / "nothing", "p(?x)")
    assert done.status == 1
    assert "not-a-store" in done.err


def test_output_into_a_directory_that_is_not_there(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    done = everlog_command("query", family, "root(?x)", "--output", tmp_path / "no" / "file")
    assert done.status == 1
    assert "input-output" in done.err


@pytest.mark.long
def test_a_reader_that_has_enough(everlog_command: CommandLine, tmp_path: Path) -> None:
    import everlog

    kb = everlog.KnowledgeBase()
    kb.insert("n", {"value": list(range(200_000))})
    kb.save(tmp_path / "kb")
    command = [sys.executable, "-m", "everlog.cli", "query", str(tmp_path / "kb"), "n(?x)", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_query_imports_neither_spark_nor_pandas(family: Path) -> None:
    code = (
        "import atexit, sys; from everlog.cli import main; "
        "atexit.register(lambda: print([m for m in ('pyspark', 'polars', 'py4j', 'pandas') if m in sys.modules])); "
        f"sys.argv = ['everlog', 'query', {str(family)!r}, 'root(?x)', '--quiet']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_pipe_is_written_to_and_not_replaced(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = everlog_command("query", family, "root(?x)", "--format", "csv", "--output", pipe)
    assert done.status == 0
    assert os.read(reader, 100) == b"x\nann\n"
    os.close(reader)
    assert pipe.is_fifo()


def test_at_takes_a_version_or_a_time(everlog_command: CommandLine, tmp_path: Path) -> None:
    kb = KnowledgeBase("p(1) .")
    kb.save(tmp_path / "kb")
    first = Store.open(tmp_path / "kb").info().timestamp
    time.sleep(0.002)
    kb.update(insert={"p": [(2,)]})
    kb.save()
    for at in ("0", first.isoformat(), first.astimezone().replace(tzinfo=None).isoformat(" ")):
        assert everlog_command("query", tmp_path / "kb", "p(?x)", "--format", "csv", "--at", at).out == "x\n1\n"
        assert '"version": 0,' in everlog_command("stats", tmp_path / "kb", "--json", "--at", at).out
    done = everlog_command("query", tmp_path / "kb", "p(?x)", "--format", "csv", "--at", "2999-01-01")
    assert done.out == "x\n1\n2\n"
