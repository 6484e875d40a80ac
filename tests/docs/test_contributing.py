"""CONTRIBUTING.md names files, names in them, and make targets that exist."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from everlog.reasoning.names import Algorithm
from everlog.reasoning.update import ALGORITHMS
from tests.docs.pages import DOCS

ROOT = DOCS.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(
    set(re.findall(r"`((?:src|tests|docs|bench)/[^`\s]*)`", TEXT)) | set(re.findall(r"\]\((docs/[^)]*)\)", TEXT))
)
NAMES = re.findall(r"`(\w+)` (?:of|in|\()\s*`(src/[^`]*\.py)`", TEXT)


@pytest.mark.parametrize("path", [path for path in PATHS if "NAME" not in path])
def test_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("name", "path"), NAMES)
def test_names_are_in_their_files(name: str, path: str) -> None:
    assert re.search(rf"^(?:class |def )?{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_every_kind_of_change_is_found() -> None:
    assert len(PATHS) > 25
    assert ("ALGORITHMS", "src/everlog/reasoning/update.py") in NAMES


def test_make_targets_exist() -> None:
    targets = re.findall(r"^make ([\w-]+)", TEXT, re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def test_the_names_of_algorithms_are_those_of_the_registry() -> None:
    assert set(get_args(Algorithm)) == {"auto", "rematerialise", *ALGORITHMS}
