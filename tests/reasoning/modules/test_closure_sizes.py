"""Closures of real relations have the published sizes, and are counted without listing their pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from bench.inputs import is_here
from bench.modules.closure_sizes import PUBLISHED, Published
from bench.modules.setting import Setting
from bench.programs import LINEAR, NONLINEAR, Program
from everlog.engine.closed import Closed
from everlog.engine.reach import Reach
from everlog.lang.syntax import Predicate

RIGHT_LINEAR = Program(
    "right-linear",
    "path",
    ("edge",),
    "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .",
)


def refuse(*_: Any) -> NoReturn:
    raise AssertionError("the pairs are listed")


@pytest.mark.long
@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.name)
def test_closure_sizes(published: Published, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_here(published), f"{published.shared} are not in {shared_data}"
    edges = published.edges()
    for name in ("matches", "blocks", "sorted_keys"):
        monkeypatch.setattr(Closed, name, refuse)
    monkeypatch.setattr(Reach, "expanded", refuse)
    for program in (LINEAR, RIGHT_LINEAR, NONLINEAR):
        state = Setting(program.rules, {"edge": edges}, "compact").materialised().state
        assert state is not None
        path = state.facts[Predicate("path", 2)]
        assert isinstance(path.base, Closed)
        assert len(path) == published.pairs
