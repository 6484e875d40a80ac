"""The shell: inputs from a pipe, changes that are whole or not at all, completion, a real terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import everlog
from everlog.lang.errors import EverlogError
from everlog.shell.completion import completions
from everlog.shell.inputs import run_input
from everlog.shell.loop import PROMPT, next_input, run
from everlog.shell.reading import is_complete
from everlog.shell.session import Session
from everlog.shell.terminal import history_file
from everlog.store import Store
from tests.cli.running import CommandLine, saved

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . edge(a, b) ."


class Typed:
    """A session with the output of each input."""

    def __init__(self, kb: everlog.KnowledgeBase | None = None) -> None:
        self.shown: list[str] = []
        self.session = Session(kb or everlog.KnowledgeBase(PATHS), self.shown.append)

    def __call__(self, text: str) -> str:
        self.shown.clear()
        run_input(self.session, text)
        return "\n".join(self.shown)


@pytest.fixture
def typed() -> Typed:
    return Typed()


def test_facts_and_queries(typed: Typed) -> None:
    assert typed("edge(b, c) . edge(c, d) .") == "+2 edge, +5 path"
    assert typed("? path(a, ?x)") == "x\n-\nb\nc\nd\n3 answers"
    assert typed("?- path(?x, d), ~edge(?x, d) .") == "x\n-\na\nb\n2 answers"
    assert typed("? path(a, d)") == "true"
    assert typed("? path(d, a) .") == "false"
    assert typed("- edge(b, c) .") == "-1 edge, -4 path"
    assert typed("- path(a, b) .") == "nothing changed; 1 not removed, being no explicit fact"
    assert typed("edge(a, b) .") == "nothing changed"
    assert typed("path(a, b) .") == "no fact inserted or deleted; explicit: +1 path"


def test_rules_come_and_go(typed: Typed) -> None:
    assert typed("back(?y, ?x) :- path(?x, ?y) .") == "+1 rule, +1 back"
    assert typed("back(?v, ?u) :- path(?u, ?v) .") == "1 rule there already"
    assert typed(":rules").splitlines()[-1] == "back(?y, ?x) :- path(?x, ?y) ."
    assert typed("- back(?v, ?u) :- path(?u, ?v) .") == "-1 rule, -1 back"
    with pytest.raises(EverlogError, match="no rule"):
        typed("- back(?v, ?u) :- path(?u, ?v) .")


def test_prefixes_are_remembered(typed: Typed) -> None:
    assert typed("@prefix ex: <http://e.org/> .") == ""
    assert typed("ex:p(ex:a, 5) .") == "+1 ex:p"
    assert typed("? ex:p(?x, ?y)") == "x     y\n----  -\nex:a  5\n1 answer"
    assert typed(":sparql SELECT ?x {\n ?x <http://e.org/p> ?y }") == "x\n----\nex:a\n1 answer"
    assert typed(":sparql ASK { ?x <http://e.org/q> ?y }") == "false"
    assert typed(":sparql DELETE WHERE { ?x <http://e.org/p> ?y }") == "-1 ex:p"


def test_explanations(typed: Typed) -> None:
    typed("edge(b, c) . @prefix ex: <http://e.org/> . ex:p(ex:a) .")
    assert "edge(b, c)" in typed(":explain path(a, c)")
    assert typed(":why path(a, c)") == typed(":explain path(a, c) .")
    assert "path(c, a)" in typed(":why-not path(c, a)")
    assert "ex" in typed(":explain ex:p(?x)")


def test_undo_goes_back_step_by_step(typed: Typed) -> None:
    before = typed(":predicates")
    typed("edge(b, c) .")
    typed("loop(?x) :- path(?x, ?x) .")
    typed("edge(c, a) .")
    assert typed(":undo") == "undone: a change of facts"
    assert typed("? loop(a)") == "false"
    typed(":undo")
    typed(":undo")
    assert typed(":predicates") == before
    with pytest.raises(EverlogError, match="nothing to undo"):
        typed(":undo")
    assert typed("edge(b, c) .") == "+1 edge, +2 path"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("edge(a .", "unclosed-parenthesis"),
        ("? pth(a, ?x)", "unknown-predicate"),
        ("edge(a, b, c) .", "arity"),
        ("p(?x) :- edge(?x, _), ~p(?x) .", "negation-cycle"),
        (":lod x", "unknown-command"),
        (":limit", "missing-argument"),
        (":limit many", "not-a-number"),
        (":load nowhere.csv", "no-such-file"),
        (":explain", "missing-argument"),
        (":explain edg(a, b)", "unknown-predicate"),
    ],
)
def test_errors_leave_everything_as_it_was(typed: Typed, text: str, code: str) -> None:
    before = typed(":predicates"), typed(":rules")
    with pytest.raises(EverlogError) as raised:
        typed(text)
    found = raised.value.diagnostics[0].code
    assert found == code or (code, found) in {("arity", "wrong-arity"), ("no-such-file", "unreadable-file")}
    assert (typed(":predicates"), typed(":rules")) == before


def test_a_limit_leaves_everything_as_it_was(typed: Typed) -> None:
    typed.session.kb.max_facts = 10
    with pytest.raises(everlog.LimitError):
        typed(" ".join(f"edge(n{i}, n{i + 1}) ." for i in range(20)))
    assert typed("? edge(?x, ?y)").endswith("1 answer")


def test_files(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("b,c\nc,d\n")
    (tmp_path / "more.csv").write_text("d,e\n")
    (tmp_path / "back.rls").write_text("back(?y, ?x) :- edge(?x, ?y) .\nedge(z, a) .\n")
    assert typed(f":load {tmp_path / 'edge.csv'}") == "+2 edge, +5 path"
    assert typed(f":load edge={tmp_path / 'more.csv'}") == "+1 edge, +4 path"
    assert typed(f":load {tmp_path / 'back.rls'}") == "+1 rule, +5 back, +1 edge, +5 path"
    assert typed(f":save {tmp_path / 'kb'}").endswith("version 0")
    typed("- edge(z, a) .")
    assert typed(":save").endswith("version 1")
    assert len(everlog.open(tmp_path / "kb")["edge"]) == 4
    assert "version 1" in typed(":stats")


def test_few_answers_are_shown(typed: Typed) -> None:
    typed(":limit 2")
    typed("edge(b, c) .")
    assert typed("? path(?x, ?y)").splitlines()[-1] == "3 answers, 2 shown; `:limit N` shows more"
    assert "rules" in typed(":profile")


def test_every_command_has_help(typed: Typed) -> None:
    shown = typed(":help")
    assert ":explain FACT" in shown
    assert typed(":help load").startswith(":load")


def test_an_input_may_have_several_lines() -> None:
    lines = iter(["path(?x, ?z) :-", "  % halfway . there", "  edge(?x, ?y),", "  edge(?y, ?z) .", ":rules"])
    assert next_input(lambda prompt: next(lines)).count("\n") == 3
    assert next_input(lambda prompt: next(lines)) == ":rules"
    assert is_complete('p("a dot . in a string"') is False
    assert is_complete("")


def test_completion(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complete(line: str) -> list[str]:
        begin = max(line.rfind(mark) for mark in " ,()") + 1
        return completions(typed.session, line, begin, line[begin:])

    typed("edge(alice, albert) . edge(bob, 7) .")
    assert complete("? p") == ["path("]
    assert complete("- e") == ["edge("]
    assert complete("? edge(al") == ["albert", "alice"]
    assert complete("p(?some) :- edge(?s") == ["?some"]
    assert complete(":s") == [":save", ":sparql", ":stats"]
    assert complete(":help :l") == [":limit", ":load"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edge.csv").write_text("")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "er.csv").write_text("")
    assert complete(":load e") == ["edge.csv"]
    assert complete(":load p=deep/") == ["p=deep/er.csv"]
    assert complete(":load d") == ["deep/"]


def test_the_history_is_in_the_directory_for_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "everlog" / "history"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_file() == tmp_path / ".local" / "state" / "everlog" / "history"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # a user whom the system does not know
    assert history_file() is None


def test_an_interrupt_cancels_the_work(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt during an update, after its facts are inserted and before derived facts are."""
    update = everlog.KnowledgeBase.update

    def interrupted(kb: everlog.KnowledgeBase, *arguments: object, **options: object) -> None:
        update(kb, *arguments, **options)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(everlog.KnowledgeBase, "update", interrupted)
    complaints: list[str] = []
    inputs = iter(["edge(b, c) .", ":predicates"])

    def read(prompt: str) -> str:
        try:
            return next(inputs)
        except StopIteration:
            typed.session.over = True
            return ""

    assert run(typed.session, read, complaints.append, on_terminal=True)
    assert complaints == ["interrupted: the knowledge base is as before"]
    assert "edge/2         1         1" in typed.shown


def shell(*arguments: str, script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "everlog.cli", "shell", *arguments]
    return subprocess.run(command, input=script, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


def test_a_script_goes_on_after_errors_and_says_so(
    everlog_command: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "kb", PATHS)
    script = "edge(b, c) .\n? pth(a)\n? path(a, ?x)\nedge(c,\n d) .\n:save\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    done = everlog_command("shell", "kb")
    assert done.status == 1
    assert done.out == f"+1 edge, +2 path\nx\n-\nb\nc\n2 answers\n+1 edge, +3 path\nsaved {tmp_path}/kb, version 1\n"
    assert done.err.startswith("error[unknown-predicate]: there is no predicate `pth`")
    assert Store.open(tmp_path / "kb").version == 1


@pytest.mark.long
def test_a_script_is_warned(tmp_path: Path) -> None:
    saved(tmp_path / "kb", PATHS)
    (tmp_path / "edge.csv").write_text("1,2\n")
    done = shell("kb", script="egde(b, c) .\nfar(?x) :- path(?x, 7) .\n:load edge.csv\n", cwd=tmp_path)
    assert done.returncode == 0
    assert "warning[unread-facts]: there are facts of `egde`, which no rule has" in done.stderr
    assert "did you mean `edge`?" in done.stderr
    assert "warning[never-joined]: `7` is never in `path`" in done.stderr
    assert done.stderr.count("warning[") == 2


class Terminal:
    """A shell in a pseudo-terminal."""

    def __init__(self, directory: Path) -> None:
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            environment = {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "TERM": "dumb"}
            os.execvpe(sys.executable, [sys.executable, "-m", "everlog.cli", "shell", "r.rls"], environment)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def until(self, found: Callable[[str], bool], seconds: float = 60) -> str:
        """The output from now on, once it matches the expected text."""
        deadline, shown = time.monotonic() + seconds, ""
        while not found(shown):
            ready, _, _ = select.select([self._file], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"nothing more after {shown!r}"
            try:
                data = os.read(self._file, 4096)
            except OSError:
                data = b""
            assert data, f"the end after {shown!r}"
            shown += data.decode()
        return shown

    def interrupt(self) -> None:
        """Send Ctrl-C until there is a new prompt: Python misses one that comes just before it waits for a key."""
        for _ in range(10):
            self.type("\x03")
            if select.select([self._file], [], [], 5)[0]:
                self.until(lambda shown: shown.endswith(PROMPT))
                return
        raise AssertionError("Ctrl-C does nothing")

    def leave(self) -> int:
        """Send Ctrl-D at the prompt; returns the exit status."""
        self.type("\x04")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        raise AssertionError("Ctrl-D does not end the shell")


@pytest.mark.long
def test_on_a_terminal(tmp_path: Path) -> None:
    """Completion by the tabulator, Ctrl-C for the line, Ctrl-D to leave, and a history afterwards."""
    pytest.importorskip("readline")
    (tmp_path / "r.rls").write_text(PATHS)
    terminal = Terminal(tmp_path)
    try:
        assert "2 rules, 2 facts" in terminal.until(lambda shown: shown.endswith(PROMPT))
        terminal.type("? pat\ta, ?x)\n")
        assert "path(a, ?x)" in terminal.until(lambda shown: "1 answer" in shown and shown.endswith(PROMPT))
        terminal.type("edge(x,")
        terminal.until(lambda shown: "edge(x," in shown)
        terminal.interrupt()
        terminal.type("? edge(x, ?y)\n")
        assert "0 answers" in terminal.until(lambda shown: "answers" in shown and shown.endswith(PROMPT))
        assert terminal.leave() == 0
    except BaseException:
        os.kill(terminal.pid, signal.SIGKILL)
        raise
    assert "? path(a, ?x)" in (tmp_path / "state" / "everlog" / "history").read_text()
