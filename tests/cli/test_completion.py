"""Completion in a real bash that has loaded the script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import everlog

DRIVE = """
eval "$(_EVERLOG_COMPLETE=bash_source everlog)"
complete -p everlog
compopt() { COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); }  # what -o default does at a prompt
tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _everlog_completion everlog; echo "${COMPREPLY[*]}"; }
"""


@pytest.fixture
def bash(tmp_path: Path) -> list[str]:
    """Bash's completions of the last words of lines."""
    program = tmp_path / "bin" / "everlog"
    program.parent.mkdir()
    source = Path(everlog.__file__).parent.parent
    program.write_text(f'#!/bin/sh\nPYTHONPATH={source} exec {sys.executable} -m everlog.cli "$@"\n')
    program.chmod(0o755)
    (tmp_path / "edge.csv").touch()
    (tmp_path / "rules.rls").touch()
    lines = [
        "everlog mat",
        "everlog query kb --format = pa",
        "everlog check rul",
        "everlog update kb --insert edge = ed",
        "everlog nonsense x",
    ]
    tabs = "\n".join(f"tab {line}" for line in lines)
    done = subprocess.run(
        ["bash", "--norc", "-c", DRIVE + tabs],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash_completes_commands_options_values_and_paths(bash: list[str]) -> None:
    registered, *completed = bash
    assert registered.endswith("-F _everlog_completion everlog")
    assert completed == ["materialise", "parquet", "rules.rls", "edge.csv", ""]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_there_is_a_script_for_other_shells(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "everlog.cli"],
        env={**os.environ, "_EVERLOG_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_everlog_completion" in done.stdout
