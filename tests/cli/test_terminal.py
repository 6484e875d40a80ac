"""Output of commands on a terminal has no control characters; output to files and pipes is exact."""

from __future__ import annotations

import os
import pty
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import everlog
from everlog.cli.progress import JsonLines, Lines
from everlog.cli.run import run
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place
from tests.cli.running import CommandLine

BAD = "\x1b]0;owned\x07\u202e\x9b31m"
ADDRESS = "s3://key:secret@bucket/x"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terminal") / "kb"
    kb = everlog.KnowledgeBase("q(?x) :- p(?x) .")
    kb.insert("p", [(BAD,)])
    kb.save(path)
    return path


def on_a_terminal(*arguments: object) -> str:
    """The output of a command whose stdout is a terminal; it must be short, for it is read when the command is done."""
    ours, theirs = pty.openpty()
    with (
        os.fdopen(ours, "rb", buffering=0) as shown,
        os.fdopen(theirs, "w", encoding="utf-8") as terminal,
        redirect_stdout(terminal),
    ):
        assert run([*map(str, arguments)]) == 0
        terminal.flush()
        return shown.read(1 << 16).decode()


@pytest.mark.parametrize(
    "arguments",
    [("query", "--format", "csv"), ("query", "--format", "table"), ("query", "--format", "json"), ("explain",)],
    ids=["csv", "table", "json", "explain"],
)
def test_values_do_not_act_on_a_terminal(store: Path, arguments: tuple[str, ...]) -> None:
    shown = on_a_terminal(arguments[0], store, "q(?x)", *arguments[1:])
    assert "owned" in shown
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)


def test_values_in_a_file_are_exact(everlog_command: CommandLine, store: Path) -> None:
    assert everlog_command("query", store, "q(?x)", "--format", "csv").out == f"x\n{BAD}\n"


def test_progress_shows_neither_secrets_nor_control_characters(capfd: pytest.CaptureFixture[str]) -> None:
    lines, programs = Lines(), JsonLines()
    for progress in (lines, programs):
        progress.note(f"reading {ADDRESS}{BAD}")
        progress.warning(
            Diagnostic(Code.UNREACHABLE_STORE, f"no {ADDRESS}", Place(ADDRESS), f"try {ADDRESS}", ((ADDRESS, None),))
        )
        progress.failed(
            [
                Diagnostic(
                    Code.UNREACHABLE_STORE,
                    f"no {ADDRESS}",
                    Place(ADDRESS),
                    f"try {ADDRESS}",
                    ((ADDRESS, Place(ADDRESS)),),
                )
            ]
        )
    said = capfd.readouterr().err
    assert "secret" not in said
    assert said.count("s3://***@bucket/x") == 20
    assert "\x1b" not in said


def test_commands_print_through_one_function() -> None:
    package = Path(everlog.__file__).parent
    files = [*package.glob("cli/*.py"), *package.glob("shell/*.py")]
    assert [f.name for f in files if "click.echo(" in f.read_text(encoding="utf-8")] == ["terminal.py"]
