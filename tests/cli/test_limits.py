"""Limits stop each command that reasons, say which was reached and what to do, and leave the store as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.cli.progress import Progress
from everlog.cli.reporting import report_for
from everlog.host.interrupts import as_interrupts, remember_interrupts
from everlog.store import Store
from tests.cli.running import CommandLine, saved

RULES = "path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .\n"
EDGES = "".join(f"n{i},n{i + 1}\n" for i in range(60))

LIMITS = [
    (["--max-facts", "50"], "error[max-facts]: there are more than 50 facts", "raise --max-facts"),
    (["--timeout", "0"], "error[timeout]: the 0 seconds allowed for reasoning ran out", "raise --timeout"),
    (["--memory", "1m", "--engine", "local"], "1.0 MB are allowed", "raise --memory"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "r.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text(EDGES)
    (tmp_path / "few.csv").write_text("n0,n1\nn1,n2\nn2,n3\n")
    saved(tmp_path / "kb", RULES + "edge(n0, n1) . edge(n1, n2) .")
    return tmp_path


@pytest.mark.parametrize(("options", "message", "hint"), LIMITS)
def test_materialise(
    everlog_command: CommandLine, files: Path, spark: Any, options: list[str], message: str, hint: str
) -> None:
    done = everlog_command(
        "materialise", "r.rls", "--facts", "edge.csv", "--store", "new", "--modules", "off", *options
    )
    assert (done.status, done.out) == (1, "")
    assert message in done.err
    assert f"= help: {hint}" in done.err
    assert not (files / "new").exists()


@pytest.mark.parametrize(("options", "message", "hint"), LIMITS)
def test_overwriting_leaves_the_old_version(
    everlog_command: CommandLine, files: Path, spark: Any, options: list[str], message: str, hint: str
) -> None:
    command = ["materialise", "r.rls", "--facts", "edge.csv", "--store", "kb", "--overwrite", *options]
    assert everlog_command(*command).status == 1
    assert_as_before(everlog_command, files)


@pytest.mark.parametrize(("options", "message", "hint"), LIMITS)
def test_update(everlog_command: CommandLine, files: Path, options: list[str], message: str, hint: str) -> None:
    done = everlog_command("update", "kb", "--insert", "edge.csv", *options)
    assert (done.status, done.out) == (1, "")
    assert message in done.err
    assert f"= help: {hint}" in done.err
    assert_as_before(everlog_command, files)


@pytest.mark.parametrize("limit", [["--max-facts", "5"], ["--timeout", "0"], ["--memory", "1m"]])
def test_sparql_updates_and_verification(everlog_command: CommandLine, files: Path, limit: list[str]) -> None:
    request = "INSERT DATA { 'n2' everlog:edge 'n3' . 'n3' everlog:edge 'n4' }"
    done = everlog_command("sparql", "kb", request, "--update", *limit)
    assert (done.status, done.out) == (1, "")
    assert_as_before(everlog_command, files)
    if limit[0] != "--max-facts":
        assert everlog_command("verify", "kb", *limit).status == 1


def assert_as_before(everlog_command: CommandLine, files: Path) -> None:
    assert Store.open(files / "kb").version == 0
    assert {path.name for path in (files / "kb" / "work").iterdir()} <= {"guard"}
    assert len(everlog.open(files / "kb")["path"]) == 3


def test_memory_is_a_limit_in_python() -> None:
    kb = everlog.KnowledgeBase(RULES, modules=False, max_memory="1m")
    kb.insert("edge", [(i, i + 1) for i in range(50)])
    with pytest.raises(everlog.LimitError, match="of memory are in use"):
        kb.materialise()
    kb.max_memory = 1 << 40
    assert kb.materialise().derived == 50 * 51 // 2


def test_memory_stops_a_materialisation_while_it_grows() -> None:
    """If reasoning needs far more memory than allowed, the error comes soon after the limit is exceeded."""
    from everlog.host.memory import held_memory

    kb = everlog.KnowledgeBase("all(?x, ?y, ?z) :- p(?x), p(?y), p(?z) .", maintain="none")
    kb.insert("p", [(i,) for i in range(1500)])
    kb.max_memory = held_memory() + (100 << 20)
    with pytest.raises(everlog.LimitError, match="memory"):
        kb.materialise()
    assert held_memory() < kb.max_memory + (300 << 20)


def interrupted(command: list[str], after: str, seconds: float, cwd: Path) -> tuple[int, str, str]:
    """Run a command and send it SIGINT some seconds after it reports the beginning of a phase."""
    arguments = [sys.executable, "-m", "everlog.cli", *command]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd) as process:
        assert process.stderr is not None
        said = ""
        while after not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


MANY = "p(?x, ?y, ?z) :- edge(?x, ?a), edge(?y, ?b), edge(?z, ?c) .\n"
"""Rules and facts whose materialisation takes very long."""


@pytest.mark.long
def test_an_interrupt_while_an_update_reasons(files: Path) -> None:
    saved(files / "long", MANY + "edge(n0, n1) .")
    (files / "edge.csv").write_text("".join(f"n{i},n{i + 1}\n" for i in range(700)))
    status, out, err = interrupted(["update", "long", "--insert", "edge.csv"], " reason", 0.5, files)
    assert (status, out) == (130, "")
    assert [line for line in err.splitlines() if "interrupted" in line] == err.splitlines()[-1:]
    assert "Traceback" not in err
    assert Store.open(files / "long").version == 0
    assert len(everlog.open(files / "long")["edge"]) == 1


def test_an_interrupt_before_anything_happens(files: Path) -> None:
    """An interrupt during Python's imports gives no traceback and status 130."""
    arguments = [sys.executable, "-X", "importtime", "-m", "everlog.cli", "update", "kb", "--insert", "edge.csv"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=files) as process:
        assert process.stderr is not None
        assert any("click" in line for line in process.stderr), "the first import of a command"
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode in (130, 0)
    assert "Traceback" not in err


def test_an_interrupt_that_a_library_swallows_ends_the_phase() -> None:
    """Nothing is committed after an interrupt, even if a library caught it."""
    report = report_for(Progress(), None)
    with remember_interrupts():
        report.phase("read")
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            report.phase("commit")
    with remember_interrupts():
        report.phase("read")


def test_what_goes_wrong_after_an_interrupt_is_the_interrupt() -> None:
    """Compiled code turns KeyboardInterrupt into SystemError."""

    def fail() -> None:
        raise SystemError("returned a result with an exception set")

    with remember_interrupts():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), as_interrupts():
            fail()
    with remember_interrupts(), pytest.raises(SystemError), as_interrupts():
        fail()
