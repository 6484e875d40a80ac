"""Names and prose in the code: the glossary names what exists, classes have unique names, docstrings are plain."""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import everlog
from tests.docs.pages import DOCS, ROOT

PACKAGE = Path(everlog.__file__).parent

PLAIN = ("bench", "scripts", "src", "tests")
"""The directories whose docstrings and comments are checked for words that hide the subject of a sentence."""

VAGUE = re.compile(
    r"\b(told|so many|so much|the same,? but|the same (with|where|for)|nobody|somebody|whoever|hears? of|"
    r"what there is|what comes from|worth (its|her) while|graves|(?-i:Those that))\b",
    re.IGNORECASE,
)


def places() -> Iterator[str]:
    """The names in the right columns of the glossary."""
    for row in re.findall(r"^\|(.*)\|$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE):
        yield from re.findall(r"`([a-z_.]+(?:\.[A-Za-z_]+)*)`", row.split("|")[-1])


@pytest.mark.parametrize("name", sorted(set(places())))
def test_the_glossary_names_what_exists(name: str) -> None:
    module, _, last = name.rpartition(".")
    if last[0].isupper() or not (PACKAGE / name.replace(".", "/")).with_suffix(".py").exists():
        if (PACKAGE / name.replace(".", "/") / "__init__.py").exists():
            return
        assert hasattr(importlib.import_module(f"everlog.{module}"), last)
    else:
        importlib.import_module(f"everlog.{name}")


def test_there_are_names_in_the_glossary() -> None:
    assert len(set(places())) > 50


def test_class_names_are_unique() -> None:
    found = Counter(
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^class ([^\W_]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert len(found) > 300
    assert [name for name, count in found.items() if count > 1] == []


def plain(text: str) -> str:
    """A text on one line, without examples."""
    return re.sub(r"\s+", " ", re.sub(r"(?m)^ *(>>>|\.\.\.).*$", "", text))


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and the comments of a file that has a vague word somewhere, with their lines."""
    text = path.read_text(encoding="utf-8")
    if VAGUE.search(plain(text)) is None:  # and so in no part of it
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, plain(node.value.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("place", [ROOT / name for name in PLAIN], ids=PLAIN)
def test_docstrings_and_comments_are_plain(place: Path) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {vague[0]}"
        for path in sorted(place.rglob("*.py"))
        for line, text in prose(path)
        if (vague := VAGUE.search(text)) is not None
    ]
    assert not found
