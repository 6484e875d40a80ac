"""Small pieces of text output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def aligned(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table: the first column is aligned to the left, the others, which are numbers, to the right.

    >>> print("\\n".join(aligned(("what", "n"), [("edges", "7"), ("paths", "12")])))
    what    n
    edges   7
    paths  12
    """
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()


def cut(text: str, most: int) -> str:
    """A text of at most ``most`` characters, with dots in place of the rest.

    >>> cut("a long text", 9), cut("short", 9)
    ('a long...', 'short')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def bytes_text(size: int) -> str:
    """A number of bytes with a unit, such as ``1.5 MB``.

    >>> bytes_text(512), bytes_text(1_500_000)
    ('512 bytes', '1.5 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def violations_line(number: int, store: str, change: str = "") -> Iterator[str]:
    """The line of a summary with the number of violations and the command that lists them; no line if there are none.

    >>> list(violations_line(2, "kb")), list(violations_line(0, "kb"))
    (['violations 2 (everlog violations kb)'], [])
    """
    if number or change:
        yield f"violations {number:,}{change} (everlog violations {store})"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "rule"), counted(2, "stratum", "strata")
    ('1 rule', '2 strata')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
