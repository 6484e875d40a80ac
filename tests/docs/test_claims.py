"""The statements of the pages about the code are true: the functions that they name, and the floors."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import everlog
from everlog.cli.group import COMMANDS
from everlog.settings import SETTINGS
from tests.docs.pages import DOCS

PACKAGE = Path(everlog.__file__).parent
REASONING = [path.stem for path in (PACKAGE / "reasoning").iterdir() if not path.stem.startswith("__")]


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table after a heading, without the header row."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(heading)[2]
    rows = re.findall(r"^\|(.*)\|$", text.partition("\n\n|")[2].partition("\n\n")[0], re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in rows if not re.fullmatch(r"[ |-]+", row)]


def functions_of_the_papers() -> Iterator[str]:
    """The names in the right column of the table of lines."""
    for *_, functions in table("algorithms.md", "## Lines"):
        yield from re.findall(r"`([\w.]+)`", functions)


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f"everlog.reasoning.{name}") for name in REASONING]


def _exists(name: str) -> bool:
    """Whether the code has a function, a method of a class, or a name in a module."""
    head, *rest = name.split(".")
    if head in REASONING or (PACKAGE / head).is_dir():
        package = "reasoning." if head in REASONING else ""
        for cut in range(len(rest) + 1):
            try:
                found = importlib.import_module(f"everlog.{package}{'.'.join([head, *rest[:cut]])}")
            except ModuleNotFoundError:
                continue
            if _has(found, rest[cut:]) and rest[cut:]:
                return True
        return False
    owners: list[object] = [each for module in _modules() for each in (module, *_classes(module))]
    return any(_has(owner, [head, *rest]) for owner in owners)


def _classes(module: ModuleType) -> list[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def _has(owner: object, names: list[str]) -> bool:
    for name in names:
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return True


@pytest.mark.parametrize("name", sorted(set(functions_of_the_papers())))
def test_functions_of_the_papers_exist(name: str) -> None:
    assert _exists(name)


def test_there_are_functions_of_the_papers() -> None:
    assert len(set(functions_of_the_papers())) > 25
    assert not _exists("DRed.no_such_function")


def test_symbols_of_the_papers_are_names_in_the_code() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "reasoning").glob("*.py"))
    for _, here in table("algorithms.md", "## Symbols"):
        for name in re.findall(r"`[.]?(?:\w+\.)?(\w+)(?:\([^`]*\))?`", here):
            assert name == "py" or re.search(rf"\b{re.escape(name)}\b", source), name


def test_commands_and_settings_are_documented() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert not [name for name in COMMANDS if f"everlog {name}" not in text]
    assert not [name for name in SETTINGS if f"`{name}`" not in text and f"--{name}" not in text]
