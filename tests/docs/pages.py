"""The pages of the documentation and the blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEREDOC = re.compile(r"<<'?(\w+)'?$")


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is written in, its text, and the line of its page where it begins."""

    kind: str
    text: str
    line: int


def page_name(page: Path) -> str:
    """What a test calls a page."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _FENCE.finditer(text)]


def without_blocks(page: Path) -> str:
    """The text of a page outside of its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, here-documents included, each with what it should print.

    >>> list(commands("$ echo a\\na\\n$ true\\n"))
    [('echo a', 'a\\n'), ('true', '')]
    """
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        assert line.startswith("$ "), line
        command = line.removeprefix("$ ")
        if end := _HEREDOC.search(command):
            while not command.endswith(f"\n{end[1]}"):
                command += "\n" + lines.pop(0)
        wanted = []
        while lines and not lines[0].startswith("$ "):
            wanted.append(lines.pop(0))
        yield command, "".join(f"{line}\n" for line in wanted)
