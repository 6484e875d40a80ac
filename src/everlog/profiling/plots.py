"""Plots as SVG texts: horizontal bars, and lines over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from everlog.lang.layout import cut

WIDTH = 880
"""Width of a plot, in pixels."""

ROW = 24
"""Height of a bar with the space below it, in pixels."""

LABEL = 420
"""Width of the labels of bars, in pixels."""

HEIGHT, LEFT, BOTTOM, TOP = 220, 80, 26, 10
"""Height of a plot of lines, and its left, bottom and top margins, in pixels."""

MOST_POINTS = 1200
"""Maximum number of points of a line; a line with more is thinned out."""

Shown = Callable[[float], str]


def bars(rows: Sequence[tuple[str, float]], shown: Shown) -> str:
    """A plot of labels, each with a bar whose length is its value.

    >>> "<rect" in bars([("a rule", 2.0)], "{:.1f} s".format)
    True
    """
    largest = max((value for _, value in rows), default=0.0) or 1.0
    room = WIDTH - LABEL - 110
    parts = [f'<svg viewBox="0 0 {WIDTH} {ROW * len(rows) + 4}" role="img">']
    for number, (label, value) in enumerate(rows):
        y = ROW * number
        length = max(1.0, room * value / largest)
        parts.append(f"<g><title>{escape(label)}: {escape(shown(value))}</title>")
        name = escape(cut(label, 60))
        parts.append(f'<text x="{LABEL - 8}" y="{y + 16}" text-anchor="end" class="label">{name}</text>')
        parts.append(f'<rect x="{LABEL}" y="{y + 4}" width="{length:.1f}" height="{ROW - 8}" class="bar"/>')
        parts.append(f'<text x="{LABEL + length + 6:.1f}" y="{y + 16}" class="value">{escape(shown(value))}</text></g>')
    return "".join([*parts, "</svg>"])


def lines(points: Sequence[tuple[float, float]], across: Shown, up: Shown) -> str:
    """A plot of a line through points in the order of their first coordinate; the second axis starts at 0.

    >>> lines([(0, 1), (1, 3)], "{:.0f}".format, "{:.0f}".format).count("<polyline")
    1
    """
    points = _thinned(points)
    if not points:
        return ""
    start, end = points[0][0], points[-1][0]
    low, high = min(0.0, *(y for _, y in points)), max(1e-9, *(y for _, y in points))
    wide, tall = WIDTH - LEFT - 20, HEIGHT - BOTTOM - TOP

    def at(x: float, y: float) -> str:
        right = LEFT + wide * ((x - start) / ((end - start) or 1.0))
        return f"{right:.1f},{TOP + tall * (1 - (y - low) / (high - low)):.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for step in range(5):
        value = low + (high - low) * step / 4
        y = at(start, value).split(",")[1]
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y}" y2="{y}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end" class="value">{escape(up(value))}</text>')
    for x, anchor in ((start, "start"), (end, "end")):
        right = at(x, low).split(",")[0]
        parts.append(
            f'<text x="{right}" y="{HEIGHT - 8}" text-anchor="{anchor}" class="value">{escape(across(x))}</text>'
        )
    parts.append(f'<polyline points="{" ".join(at(x, y) for x, y in points)}" class="line"/>')
    if len(points) == 1:
        right, above = at(*points[0]).split(",")
        parts.append(f'<circle cx="{right}" cy="{above}" r="3" class="dot"/>')
    return "".join([*parts, "</svg>"])


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """At most ``MOST_POINTS`` points: the highest in each of as many intervals."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // MOST_POINTS)
    return [max(points[i : i + size], key=lambda point: abs(point[1])) for i in range(0, len(points), size)]
