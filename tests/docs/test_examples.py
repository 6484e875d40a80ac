"""Every code block of README and docs runs, prints the shown output, and causes no warning except about ontologies.

``console`` blocks hold commands after ``$`` and what they print; ``...`` stands for any text. ``python`` blocks are
doctests, ``rls`` blocks are programs that are checked, ``sql`` blocks are run on the tables of the newest store.
All blocks of a page share a directory and a namespace. Blocks of other kinds cannot run here and are listed below.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from everlog.analysis.check import check
from everlog.cli.run import run
from everlog.lang.errors import EverlogWarning
from everlog.lang.parser import parse_program
from tests.docs.pages import PAGES, blocks, commands, page_name, without_blocks

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

NOT_RUN = {
    ("README.md", ""): "make targets, which set up an environment",
    ("docs/clusters.md", "py"): "a real cluster",
    ("docs/clusters.md", "sh"): "a real cluster",
    ("docs/streaming.md", "json"): "a piece of a commit",
}
"""Blocks that no test runs, and what running them would need."""


def output_of(command: str, capture: pytest.CaptureFixture[str]) -> str:
    """The output of a command. Everlog's commands run in this process, so that they share a Spark session."""
    merged = command.endswith(" 2>&1")
    before, found, ours = command.removesuffix(" 2>&1").partition("everlog ")
    if "<<" in command or not found:
        return _shell(command)
    variables = dict(re.findall(r"(EVERLOG_\w+)=(\S+)", before))
    shell = re.sub(r"EVERLOG_\w+=\S+", "", before).strip().removesuffix("&&")
    if shell:
        _shell(shell)
    capture.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        status = run(shlex.split(ours))
    captured = capture.readouterr()
    assert status == (1 if merged else 0), captured.err
    assert merged or not re.search(r"warning\[(?!untranslated)", captured.err), captured.err
    return captured.out + (captured.err if merged else "")


def _shell(command: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], check=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    return done.stdout


def run_console(text: str, capture: pytest.CaptureFixture[str]) -> None:
    checker = doctest.OutputChecker()
    for command, wanted in commands(text):
        got = output_of(command, capture)
        assert checker.check_output(wanted, got, OPTIONS), f"$ {command}\n{got}\ninstead of\n{wanted}"


def run_python(text: str, names: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    assert test.examples, text
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("error", EverlogWarning)
        warnings.filterwarnings("ignore", r"warning\[untranslated\]")
        failed = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=output.write, clear_globs=False).failed
    assert not failed, output.getvalue()
    names.update(test.globs)


def run_sql(text: str) -> None:
    """Run a query in DuckDB on the tables of the newest store."""
    import duckdb
    from deltalake import DeltaTable

    commits = Path.cwd().glob("*/facts/_delta_log/*.json")
    store = max(commits, key=lambda path: path.stat().st_mtime_ns).parents[2]
    for name in ("facts", "terms"):
        duckdb.read_parquet(DeltaTable(store / name).file_uris(), union_by_name=True).to_view(name)
    found = duckdb.sql(text)
    assert found is not None
    assert found.fetchall()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=page_name)
def test_examples(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], spark: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EVERLOG_")]:
        monkeypatch.delenv(name)
    names: dict[str, Any] = {}
    for block in blocks(page):
        match block.kind:
            case "console":
                run_console(block.text, capfd)
            case "python":
                run_python(block.text, names, page)
            case "sql":
                run_sql(block.text)
            case "rls":
                check(parse_program(block.text, f"{page.name}:{block.line}"))


def test_what_is_not_run_is_listed() -> None:
    kinds = Counter((page_name(page), block.kind) for page in PAGES for block in blocks(page))
    others = {which for which in kinds if which[1] not in ("console", "python", "sql", "rls")}
    assert others == set(NOT_RUN)
    print(f"{sum(kinds[which] for which in NOT_RUN)} of {sum(kinds.values())} blocks are not run")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_code_stands_between_fences(page: Path) -> None:
    """Code must be fenced: indented code would not be run."""
    lines = without_blocks(page).splitlines()
    after_blank = [line for before, line in zip(["", *lines], lines, strict=False) if not before.strip()]
    assert not [line for line in after_blank if re.match(r" {4}\S|\t", line)]
