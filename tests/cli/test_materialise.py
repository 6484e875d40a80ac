"""``everlog materialise``: the summary, errors, and removal of temporary files; small inputs need no Java."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import CommandLine

RULES = """\
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
"""


@pytest.fixture
def files(tmp_path: Path, everlog_command: CommandLine) -> Path:
    (tmp_path / "r.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    (tmp_path / "more.tsv").write_text("c\td\n")
    return tmp_path


def test_from_files_to_answers(everlog_command: CommandLine, files: Path) -> None:
    command = ("materialise", "r.rls", "--facts", "edge.csv", "--facts", "edge=more.tsv", "--store", "kb")
    done = everlog_command(*command)
    assert done.status == 0, done.err
    assert "store      kb, version 0\nread       3 rows\nfacts      10: 3 explicit, 7 derived\n" in done.out
    assert "start Spark" not in done.out
    assert everlog_command("query", "kb", "path(a, ?x)", "--format", "csv").out == "x\nb\nc\nd\n"
    assert everlog_command("verify", "kb").status == 0

    again = everlog_command(*command)
    assert (again.status, again.out) == (1, "")
    assert "store-exists" in again.err
    over = everlog_command("materialise", "r.rls", "--facts", "edge.csv", "--store", "kb", "--overwrite", "--json-logs")
    result = json.loads(over.err.splitlines()[-1])
    assert (result["event"], result["version"], result["statistics"]["facts"]) == ("result", 1, 6)
    assert "version 1" in over.out


@pytest.mark.parametrize("reader", [(), ("--master", "local[2,4]")], ids=["in process", "Spark"])
def test_bad_rows_stop_or_are_listed(
    everlog_command: CommandLine, files: Path, spark: Any, reader: tuple[str, ...]
) -> None:
    (files / "edge.csv").write_text("a,b\nb\nb,c\nc,d,e\n")
    command = ("materialise", "r.rls", "--facts", "edge.csv", "--store", "kb", *reader)
    done = everlog_command(*command)
    assert (done.status, done.out) == (1, "")
    assert "edge.csv:2" in done.err
    assert "edge.csv:4" in done.err
    assert not (files / "kb").exists()
    skipped = everlog_command(*command, "--on-error", "skip")
    assert skipped.status == 0
    assert "read       2 rows, 2 skipped" in skipped.out
    assert "skipped edge.csv:2" in skipped.err


def test_a_limit_leaves_the_store_as_it_was(everlog_command: CommandLine, files: Path) -> None:
    done = everlog_command("materialise", "r.rls", "--facts", "edge.csv", "--store", "kb", "--max-facts", "3")
    assert (done.status, done.out) == (1, "")
    assert not (files / "kb").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["r.rls", "--facts", "nothing.csv", "--store", "kb"], 1, "nothing.csv"),
        (["nothing.rls", "--store", "kb"], 1, "nothing.rls"),
        (["r.rls", "--facts", "edge.csv"], 2, "--store"),
        (["r.rls", "--facts", "edge.csv", "--store", "kb", "--timeout", "-1"], 2, "--timeout"),
        (["r.rls", "--facts", "edge.csv", "--store", "."], 1, "not-a-store"),
    ],
)
def test_what_is_refused_before_spark_starts(
    everlog_command: CommandLine, files: Path, arguments: list[str], status: int, message: str
) -> None:
    done = everlog_command("materialise", *arguments)
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (files / "kb").exists()


@pytest.mark.spark
def test_an_interrupt_leaves_no_store(files: Path) -> None:
    """An interrupt while Spark starts or works ends the command."""
    command = [sys.executable, "-m", "everlog.cli", "materialise", "r.rls", "--facts", "edge.csv", "--store", "kb"]
    command += ["--engine", "spark"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=files) as process:
        assert process.stderr is not None
        while "start Spark" not in process.stderr.readline():
            pass
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not (files / "kb").exists()
    deadline = time.monotonic() + 30
    while left := [p for p in Path("/proc").glob("[0-9]*") if p.name != str(os.getpid()) and _works_in(p, files)]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.2)


def _works_in(process: Path, directory: Path) -> bool:
    try:
        return (process / "cwd").resolve() == directory.resolve()
    except OSError:
        return False


WITHOUT_JAVA = {"PATH": "/nonexistent", "EVERLOG_QUIET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
"""The environment of a machine that has no Java."""
LONGEST_SECONDS = 20
"""Maximum number of seconds for ten rows on a busy machine; on an idle one it is about one second."""


@pytest.mark.long
def test_small_jobs_need_no_java(files: Path) -> None:
    (files / "edge.csv").write_text("".join(f"n{i},n{i + 1}\n" for i in range(10)))
    (files / "more.rls").write_text("start(?x) :- edge(?x, _), ~edge(_, ?x) .\n")
    commands = [
        ["materialise", "r.rls", "--facts", "edge.csv", "--store", "kb"],
        ["update", "kb", "--delete", "edge.csv", "--insert", "edge=more.tsv"],
        ["rules", "kb", "--add", "more.rls"],
        ["query", "kb", "start(?x)", "--format", "csv"],
    ]
    outputs = []
    for command in commands:
        begun = time.monotonic()
        line = [sys.executable, "-m", "everlog.cli", *command]
        done = subprocess.run(line, env=WITHOUT_JAVA, cwd=files, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert time.monotonic() - begun < LONGEST_SECONDS
        outputs.append(done.stdout)
    assert "facts      66: 10 explicit, 56 derived\n" in outputs[0]
    assert outputs[-1] == "x\nc\n"
