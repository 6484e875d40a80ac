"""Exit statuses, messages instead of tracebacks, settings, logs."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

import everlog.kb.stores
from everlog import settings
from tests.cli.running import CommandLine


def test_help_and_version(everlog_command: CommandLine) -> None:
    done = everlog_command("--help")
    assert done.status == 0
    for name in ("check", "materialise", "query", "stats", "export", "verify", "compact", "vacuum"):
        assert f"\n  {name} " in done.out
        assert everlog_command(name, "--help").status == 0
    assert everlog_command("--version").out == f"everlog {everlog.__version__}\n"


def test_wrong_usage(everlog_command: CommandLine) -> None:
    assert everlog_command("quary").status == 2
    assert everlog_command("query").status == 2
    assert everlog_command("check", "--no-such-option").status == 2


def test_materialize_is_an_alias(everlog_command: CommandLine) -> None:
    done = everlog_command("materialize", "r.rls")
    assert done.status == 2
    assert "--store" in done.err


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "disk-full"),
        (PermissionError(errno.EACCES, "Permission denied", "x/y"), 1, "x/y"),
        (MemoryError("8 GB"), 1, "out-of-memory"),
    ],
)
def test_what_may_happen_anywhere(
    everlog_command: CommandLine, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, message: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(everlog.kb.stores, "open", fail)
    done = everlog_command("query", "kb", "p(?x)")
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_spark_that_fails(everlog_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    from py4j.protocol import Py4JError

    def fail(*arguments: object, **options: object) -> None:
        raise Py4JError("the JVM is gone")

    monkeypatch.setattr(everlog.kb.stores, "open", fail)
    done = everlog_command("query", "kb", "p(?x)")
    assert done.status == 1
    assert "Spark failed: the JVM is gone" in done.err


def test_a_bug_is_not_hidden(everlog_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(everlog.kb.stores, "open", fail)
    with pytest.raises(ZeroDivisionError):
        everlog_command("query", "kb", "p(?x)")


def test_flags_over_environment_over_file(
    everlog_command: CommandLine, family: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = ("query", family, "parent(?x, ?y)")
    (tmp_path / "everlog.toml").write_text('format = "csv"\nlimit = 1\nquiet = true\n')
    assert everlog_command(*query).out == "x,y\nann,bob\n"
    assert everlog_command(*query).err == ""
    below = tmp_path / "some" / "where"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert everlog_command(*query).out == "x,y\nann,bob\n"
    monkeypatch.setenv("EVERLOG_LIMIT", "2")
    assert everlog_command(*query).out == "x,y\nann,bob\nbob,cid\n"
    assert everlog_command(*query, "--limit", "1", "--format", "json").out == '{"x": "ann", "y": "bob"}\n'
    monkeypatch.setenv("EVERLOG_LIMIT", "many")
    assert everlog_command(*query).status == 2


def test_a_settings_file_with_mistakes(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    (tmp_path / "everlog.toml").write_text('formt = "csv"\nlimit = "1"\non_error = "ask"\ntimeout = -1\n')
    done = everlog_command("query", family, "parent(?x, ?y)")
    assert (done.status, done.out) == (1, "")
    assert "everlog.toml:1:1" in done.err
    assert "did you mean `format`?" in done.err
    assert "'1' is not an integer" in done.err
    assert "'ask' is none of stop, skip" in done.err
    assert "is less than 0" in done.err
    (tmp_path / "everlog.toml").write_text("format = ")
    assert "not TOML" in everlog_command("query", family, "parent(?x, ?y)").err


def test_every_setting_is_an_option_somewhere() -> None:
    import click

    from everlog.cli.group import COMMANDS
    from everlog.cli.group import everlog as group

    found: set[str] = set()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        found |= {option.removeprefix("--") for parameter in command.params for option in parameter.opts}
    assert set(settings.SETTINGS) <= found


def test_json_logs(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("verify", family, "--json-logs")
    events = [json.loads(line) for line in done.err.splitlines()]
    assert [event["phase"] for event in events if event["event"] == "phase"] == ["check files", "load", "reason"]
    rounds = [event for event in events if event["event"] == "round"]
    assert rounds[-1]["facts"] == 18
    assert events[-1]["event"] == "result"
    assert events[-1]["facts"] == 18
    done = everlog_command("query", family, "ancester(?x, _)", "--json-logs")
    error = json.loads(done.err)
    assert (done.status, error["event"], error["code"], error["line"]) == (1, "error", "unknown-predicate", 1)


def test_quiet_still_shows_errors(everlog_command: CommandLine, family: Path) -> None:
    assert everlog_command("query", family, "parent(?x, _)", "--quiet").err == ""
    assert "unknown-predicate" in everlog_command("query", family, "ancester(?x, _)", "--quiet").err
