"""Tables for notebooks, as HTML. Each shows its first rows and the number of all rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from everlog.lang.layout import cut

SHOWN = 20
"""Maximum number of rows in a table."""

WIDEST = 200
"""Maximum number of characters in a cell; longer ones are cut."""


def html_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    total: int | None = None,
    *,
    caption: str = "",
    numbers: Collection[int] = (),
) -> str:
    """A table; ``total`` is the number of all rows, ``numbers`` are the columns to be aligned to the right.

    >>> html_table(["x"], [["a<b"]], 3)
    '<table><thead><tr><th style="text-align:left">x</th></tr></thead><tbody><tr><td style="text-align:left">a&lt;b\
</td></tr></tbody></table><p>2 more rows</p>'
    """
    sides = ["right" if number in numbers else "left" for number in range(len(columns))]

    def line(tag: str, cells: Sequence[object]) -> str:
        made = (
            f'<{tag} style="text-align:{side}">{escape(cut(str(cell), WIDEST))}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = f"<p>{escape(caption)}</p>" if caption else ""
    left_out = 0 if total is None else total - len(rows)
    more = f"<p>{left_out:,} more row{'s' if left_out > 1 else ''}</p>" if left_out > 0 else ""
    body = "".join(line("td", row) for row in rows)
    return f"{head}<table><thead>{line('th', columns)}</thead><tbody>{body}</tbody></table>{more}"
