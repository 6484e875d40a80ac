"""The examples in README and docs run, and print what they say.

``console`` blocks hold commands after ``$`` and what they print; ``...`` stands for any text. ``python``
blocks are doctests. All blocks of a page share a directory and a namespace.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everlog.cli.run import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"<<'(\w+)'$")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[str, str]]:
    """The kind and the text of each fenced block."""
    return [(found[1], found[2]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, here-documents included, each with what it should print."""
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        assert line.startswith("$ "), line
        command = line.removeprefix("$ ")
        if end := HEREDOC.search(command):
            while not command.endswith(f"\n{end[1]}"):
                command += "\n" + lines.pop(0)
        wanted = []
        while lines and not lines[0].startswith("$ "):
            wanted.append(lines.pop(0))
        yield command, "".join(f"{line}\n" for line in wanted)


def output_of(command: str, capture: pytest.CaptureFixture[str]) -> str:
    """What a command prints: ours run in this process, so that they share a Spark session."""
    merged = command.endswith(" 2>&1")
    before, found, ours = command.removesuffix(" 2>&1").partition("everlog ")
    if "<<" in command or not found:
        return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout
    variables = dict(re.findall(r"(EVERLOG_\w+)=(\S+)", before))
    shell = re.sub(r"EVERLOG_\w+=\S+", "", before).strip().removesuffix("&&")
    if shell:
        subprocess.run(["bash", "-c", shell], check=True)
    capture.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        status = run(shlex.split(ours))
    captured = capture.readouterr()
    assert status == (1 if merged else 0), captured.err
    return captured.out + (captured.err if merged else "")


def run_console(text: str, capture: pytest.CaptureFixture[str]) -> None:
    checker = doctest.OutputChecker()
    for command, wanted in commands(text):
        got = output_of(command, capture)
        assert checker.check_output(wanted, got, OPTIONS), f"$ {command}\n{got}\ninstead of\n{wanted}"


def run_python(text: str, names: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    assert test.examples, text
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        failed = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=output.write, clear_globs=False).failed
    assert not failed, output.getvalue()
    names.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], spark: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EVERLOG_")]:
        monkeypatch.delenv(name)
    names: dict[str, Any] = {}
    for kind, text in blocks(page):
        if kind == "console":
            run_console(text, capfd)
        elif kind == "python":
            run_python(text, names, page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
