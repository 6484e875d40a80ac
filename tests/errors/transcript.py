"""Transcripts of input and output in the files of ``cases/``, run in this process.

A file has sections, a section has files, commands and lines of Python, each with what it says::

    ## a string that is not closed
    --- rules.rls
    p("a) .
    $ everlog check rules.rls
    error[unclosed-string]: ...
    exit 1

``$ everlog`` runs a command and shows its stderr, and its status unless that is 0; other commands go to
the shell and prepare things. ``>>>`` and ``...`` run Python and show what it prints, or what it raises without
the traceback. Each section has a directory of its own.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import everlog
from everlog.cli.run import run

MARKS = ("## ", "--- ", "$ ", ">>> ")
CHANGING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b[0-9a-f]{16}(?:[0-9a-f]{16})?\b"), "HEX"),
    (re.compile(r"[\d.]+ [kMGT]B of memory"), "2.0 GB of memory"),
    (re.compile(r"version 0 is of \d\S+"), "version 0 is of TIME"),
    (re.compile(r"process \d+ on \S+, since [-\d]+ [:\d]+"), "process 17 on host, since TIME"),
)
"""Parts of the output that differ in every run."""


@dataclass(frozen=True)
class Step:
    """A line with an input (or the name of a file), its continuation lines, and the expected output."""

    mark: str
    lines: tuple[str, ...]

    @property
    def given(self) -> tuple[str, ...]:
        """The input: a file with its content, a command, or Python with its continuation lines."""
        if self.mark == "--- ":
            return self.lines
        more = 1
        while self.mark == ">>> " and more < len(self.lines) and self.lines[more].startswith("..."):
            more += 1
        return self.lines[:more]

    @property
    def code(self) -> str:
        """The line without its mark, continuation lines included."""
        return "\n".join(line[4:] if self.mark == ">>> " else line for line in self.given).removeprefix(self.mark)


@dataclass(frozen=True)
class Section:
    """A case: its title and its steps."""

    title: str
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """The section as it stands in its file."""
        return "\n".join([f"## {self.title}", *(line for step in self.steps for line in step.lines)]).rstrip() + "\n"


def sections(path: Path) -> list[Section]:
    """The sections of a file of transcripts."""
    found: list[Section] = []
    for chunk in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, *lines = chunk.rstrip().split("\n")
        found.append(Section(title, tuple(_steps(lines))))
    return found


def _steps(lines: list[str]) -> Iterator[Step]:
    starts = [number for number, line in enumerate(lines) if line.startswith(MARKS)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        mark = next(mark for mark in MARKS if lines[start].startswith(mark))
        yield Step(mark, tuple(lines[start:end]))


def played(section: Section, here: Path, errors: Callable[[], str], **given: Any) -> Section:
    """The section with the current output. ``errors`` returns the text written to stderr since its last call."""
    names: dict[str, Any] = {"everlog": everlog, "Path": Path, **given}
    done = []
    for step in section.steps:
        said = _said(step, here, names, errors)
        done.append(Step(step.mark, (*step.given, *said.rstrip("\n").split("\n")) if said else step.given))
    return Section(section.title, tuple(done))


def _said(step: Step, here: Path, names: dict[str, Any], errors: Callable[[], str]) -> str:
    if step.mark == "--- ":
        path = here / step.lines[0].removeprefix(step.mark)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in step.lines[1:]), encoding="utf-8")
        return ""
    if step.mark == ">>> ":
        return _constant(_python(step.code, names), here)
    words = shlex.split(step.code)
    if words[0] != "everlog":
        subprocess.run(["bash", "-c", step.code], check=True, cwd=here)
        return ""
    errors()
    status = run(words[1:])
    said = errors()
    return _constant(f"{said}exit {status}\n" if status else said, here)


def _python(code: str, names: dict[str, Any]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(compile(f"{code}\n", "<example>", "single"), names)
        except Exception as error:
            text = error.args[0] if type(error) is KeyError else error
            print(f"{type(error).__name__}: {text}")
    return output.getvalue()


def _constant(text: str, here: Path) -> str:
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text.replace(f"{here}/", "").replace(str(here), ".")
