"""The way of a row in docs/architecture.md is the way that a row goes: the functions are there, and called in order."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from everlog.cli.run import run
from tests.docs.pages import DOCS

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
"""


TOOLS = {
    "engine.dictionary.Dictionary.encode",
    "engine.dictionary.Dictionary.lookup",
    "engine.relation.Relation.from_columns",
    "kb.knowledge_base.KnowledgeBase.materialise",
    "query.cells.table_cells",
}
"""Functions that are called wherever texts, relations or derived facts are needed."""

TIMES = {
    ("update", "ingest.sources.resolve"): 2,
    ("update", "ingest.splits.splits"): 2,
    ("update", "ingest.facts.read_facts"): 2,
    ("update", "ingest.read.read"): 2,
    ("update", "reasoning.update.repair"): 2,
}
"""How often stations are passed that are not passed once: what is deleted is read, and then what is inserted, and the
algorithm `auto` repairs by another one."""


def walks() -> dict[str, list[str]]:
    """The functions that the page names, for each command."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## The way of a row")[2]
    parts = re.split(r"^### `everlog (.*)`$", text, flags=re.MULTILINE)
    found = zip(parts[1::2], parts[2::2], strict=True)
    return {command: re.findall(r"^\d+\. `([\w.]+)`", part, re.MULTILINE) for command, part in found}


def code_of(name: str) -> CodeType:
    """The code of a function that the page names."""
    *path, last = name.split(".")
    for cut in range(len(path), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(["everlog", *path[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in [*path[cut:], last]:
            found = getattr(found, part)
        code = getattr(found, "__wrapped__", found).__code__
        assert isinstance(code, CodeType)
        return code
    raise AssertionError(f"there is no {name}")


@contextmanager
def called(names: list[str]) -> Iterator[list[str]]:
    """The calls of some functions as long as this lasts, in their order."""
    codes, found = {code_of(name): name for name in names}, list[str]()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and (name := codes.get(frame.f_code)) is not None:
            found.append(name)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def test_a_row_goes_that_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("".join(f"n{i},n{i + 1}\n" for i in range(9)) + "a,b\n")
    (tmp_path / "more.csv").write_text("b,n0\n")
    (tmp_path / "gone.csv").write_text("n7,n8\n")
    found = walks()
    assert [command.split()[0] for command in found] == ["materialise", "update", "changes"]
    for command, names in found.items():
        with called(names) as calls:
            assert run(command.split()) == 0
        rest = iter(calls)
        assert [name for name in names if name not in rest] == [], (command, calls)
        for name, times in Counter(calls).items():
            assert name in TOOLS or times == TIMES.get((command.split()[0], name), 1), (command, name, times)
    assert "path(b, n7)" in capfd.readouterr().out


def test_a_function_that_is_not_there_is_noticed() -> None:
    with pytest.raises((AssertionError, AttributeError)):
        code_of("kb.saving.nowhere")
