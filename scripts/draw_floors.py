"""Draw docs/architecture.svg: the floors of the package, in the order in which imports are checked.

The floors are those of the import-linter contract in pyproject.toml, with the descriptions of the table in
docs/architecture.md. ``python scripts/draw_floors.py`` writes the picture; a test compares it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"

GROUPS: Mapping[str, tuple[str, str, str]] = {
    "front doors": ("demo cli shell jobs", "#eef3fb", "#4a6fa5"),
    "knowledge": ("backends kb owl", "#f3eefa", "#7d5ba6"),
    "data": ("ingest store", "#fdf5e6", "#b9832f"),
    "reasoning": ("query profiling reasoning engine", "#ebf5ee", "#3f7d58"),
    "ground": ("analysis host settings lang", "#f3f4f6", "#6b7280"),
}
"""Groups of adjacent floors, with the colours of their boxes and borders."""

WAYS: Mapping[str, tuple[str, ...]] = {
    "jobs": ("small inputs and changes", "large inputs and streams"),
    "backends": ("lookup: rows fetched as asked for", "spark: DataFrames in executors"),
    "kb": ("all facts of a version in memory", ""),
    "ingest": ("readers of small inputs", "the same readers, in executors"),
    "store": ("commits every version", "executors write the data files"),
    "query": ("answers, SPARQL, explanations", ""),
    "reasoning": ("one text of each algorithm for both ways",),
    "engine": ("sorted columns, compiled kernels", "the same, inside executors"),
    "host": ("memory, interrupts, addresses", "the session"),
}
"""(role of a floor in this process, role on Spark), or one text for both."""

LEFT, TOP, ROW, GAP = 56, 64, 44, 6
FLOOR, LANE = 520, 240
"""Widths in pixels of the box of a floor, and of the box of a role."""

WIDTH = LEFT + FLOOR + 2 * LANE + 4 * GAP + 10
STYLE = """
    text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
    .name { font-weight: 600; font-size: 14.5px; fill: #1c2430 }
    .what { font-size: 11.5px; fill: #4b5563 }
    .head { font-weight: 600; font-size: 13.5px; fill: #1c2430; text-anchor: middle }
    .note { font-size: 11.5px; fill: #6b7280 }
    .way { font-size: 12px; fill: #374151; text-anchor: middle }
    .group { font-weight: 600; font-size: 11.5px; letter-spacing: .6px; text-anchor: middle }
"""


def floors() -> list[str]:
    """The floors from the top down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == ["everlog"])
    return list(layers)


def lines() -> dict[str, str]:
    """The description of each floor in the table."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    return {floor: text.replace("`", "") for floor, text in rows}


def drawing() -> str:
    """The picture as SVG."""
    names, texts = floors(), lines()
    height = TOP + len(names) * (ROW + GAP) + 14
    title = "The floors of the package from the top down, and what each does in this process and on Spark"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">',
        f'  <title id="title">{title}.</title>',
        f"  <style>{STYLE}  </style>",
        f'  <rect width="{WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
        *_heads(height),
        *_groups(names),
    ]
    for number, name in enumerate(names):
        parts += _floor(name, texts[name], TOP + number * (ROW + GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _heads(height: int) -> Iterator[str]:
    """The headings, and the lanes of the two kinds of roles behind the floors."""
    yield f'  <text class="name" x="{LEFT}" y="32">Floors</text>'
    yield f'  <text class="note" x="{LEFT}" y="50">a floor imports only floors below it</text>'
    for number, (head, note, fill) in enumerate(
        (("In this process", "no Spark, no Java", "#fafbfc"), ("On Spark", "driver and executors", "#fff8f1"))
    ):
        x = _lane(number)
        yield f'  <rect x="{x}" y="12" width="{LANE}" height="{height - 24}" rx="8" fill="{fill}" stroke="#e5e7eb"/>'
        yield f'  <text class="head" x="{x + LANE // 2}" y="32">{head}</text>'
        yield f'  <text class="note" x="{x + LANE // 2}" y="50" text-anchor="middle">{note}</text>'


def _groups(names: list[str]) -> Iterator[str]:
    """The names of the groups, written upwards beside their floors."""
    for group, (members, fill, stroke) in GROUPS.items():
        rows = [names.index(member) for member in members.split()]
        first, size = min(rows), max(rows) - min(rows) + 1
        y, tall = TOP + first * (ROW + GAP), size * (ROW + GAP) - GAP
        middle = y + tall / 2
        yield f'  <rect x="14" y="{y}" width="30" height="{tall}" rx="6" fill="{fill}" stroke="{stroke}"/>'
        yield (
            f'  <text class="group" x="33" y="{middle:.0f}" fill="{stroke}" '
            f'transform="rotate(-90 33 {middle:.0f})">{group.upper()}</text>'
        )


def _floor(name: str, text: str, y: int) -> Iterator[str]:
    """The box of a floor, and the boxes of its roles."""
    ((fill, stroke),) = ((fill, stroke) for members, fill, stroke in GROUPS.values() if name in members.split())
    yield f'  <rect x="{LEFT}" y="{y}" width="{FLOOR}" height="{ROW}" rx="6" fill="{fill}" stroke="{stroke}"/>'
    yield f'  <text class="name" x="{LEFT + 14}" y="{y + 18}">{name}</text>'
    yield f'  <text class="what" x="{LEFT + 14}" y="{y + 35}">{escape(text)}</text>'
    ways = WAYS.get(name, ())
    for number, way in enumerate(ways):
        if way:
            wide = 2 * LANE + GAP - 16 if len(ways) == 1 else LANE - 16
            x = _lane(number) + 8
            yield (
                f'  <rect x="{x}" y="{y + 4}" width="{wide}" height="{ROW - 8}" rx="6" fill="#ffffff" '
                f'stroke="{stroke}"/>'
            )
            yield f'  <text class="way" x="{x + wide // 2}" y="{y + ROW // 2 + 4}">{escape(way)}</text>'


def _lane(number: int) -> int:
    return LEFT + FLOOR + 2 * GAP + number * (LANE + GAP)


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
