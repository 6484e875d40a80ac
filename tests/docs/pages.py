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
    """A fenced block: its language, its text, and its first line in the page."""

    kind: str
    text: str
    line: int


def page_name(page: Path) -> str:
    """The name of a page in tests."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(match[1], match[2], text.count("\n", 0, match.start()) + 1) for match in _FENCE.finditer(text)]


def without_blocks(page: Path) -> str:
    """The text of a page outside of its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, including here-documents, each with its expected output.

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
