"""Commands run in this process, and stores for them to read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

import everlog
from everlog.cli.run import run

FAMILY = """
@prefix ex: <http://example.org/> .
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
root(?x) :- parent(?x, _), ~parent(_, ?x) .
ex:knows(?x, ?y) :- ex:met(?x, ?y) .
ex:Person(?x) :- ex:met(?x, _) .
parent(ann, bob) . parent(bob, cid) .
ex:met(ex:a, ex:b) . ex:met(ex:b, 42) . ex:met(ex:b, "a \\"quoted\\"\\nline") . ex:met(alice, ex:a) .
rainy() .
"""


@dataclass(frozen=True)
class Done:
    """The output and the exit status of a command."""

    status: int
    out: str
    err: str


class CommandLine:
    """Runs commands and captures what they print, like a shell in one directory."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str | os.PathLike[str]) -> Done:
        self._capture.readouterr()
        status = run([os.fspath(argument) for argument in arguments])
        captured = self._capture.readouterr()
        return Done(status, captured.out.decode(), captured.err.decode())

    def binary(self, *arguments: str | os.PathLike[str]) -> bytes:
        """The stdout of a command that succeeds."""
        self._capture.readouterr()
        assert run([os.fspath(argument) for argument in arguments]) == 0
        return self._capture.readouterr().out


def saved(place: Path, rules: str = FAMILY) -> Path:
    """A store with the materialisation of a program."""
    everlog.KnowledgeBase(rules).save(place)
    return place
