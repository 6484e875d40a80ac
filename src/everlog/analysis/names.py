"""Similar names, for messages that suggest what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

MOST_CLOSEST = 3
"""Maximum number of names that a message suggests."""

_LOCAL = re.compile(r"[#/:]([^#/:]*)>$")


def local_part(name: str) -> str:
    """A bare name itself, or the part of an IRI after its namespace.

    >>> local_part("<http://e.org/a#knows>"), local_part("knows")
    ('knows', 'knows')
    """
    match = _LOCAL.search(name) if name.startswith("<") else None
    return match.group(1) if match is not None else name


def closest(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are most similar to a name, at most ``MOST_CLOSEST``.

    >>> closest("ancestr", ["parent", "ancestor"])
    ['ancestor']
    """
    by_local: dict[str, list[str]] = {}
    for other in known:
        by_local.setdefault(local_part(other).lower(), []).append(other)
    near = get_close_matches(local_part(name).lower(), by_local, n=MOST_CLOSEST)
    return [other for local in near for other in by_local[local]][:MOST_CLOSEST]


def likely_typos(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that are one slip away from a known name or an earlier name: one letter more, less, changed or swapped.

    Numbered names (``p1``, ``p2``) are not slips. Time is linear in the number of names.

    >>> list(likely_typos(["parnet", "edge2"], ["parent", "edge1"]))
    [('parnet', 'parent')]
    >>> list(likely_typos(["parent", "parnet"], []))
    [('parnet', 'parent')]
    """
    near: dict[str, list[str]] = {}
    for other in known:
        _remember(other, near)
    for name in names:
        others = (other for form in _shortened(name) for other in near.get(form, ()))
        found = next((other for other in others if other != name and _one_slip(name, other)), None)
        if found is not None:
            yield name, found
        else:
            _remember(name, near)


def _remember(name: str, near: dict[str, list[str]]) -> None:
    for form in _shortened(name):
        near.setdefault(form, []).append(name)


def _shortened(name: str) -> Iterator[str]:
    """The name, and the name without one letter of its local part."""
    local = local_part(name)
    if len(local) < 4:
        return
    start = name.rindex(local)
    yield name
    for at in range(start, start + len(local)):
        yield name[:at] + name[at + 1 :]


def _one_slip(name: str, other: str) -> bool:
    if re.sub(r"\d+", "", name) == re.sub(r"\d+", "", other):
        return False
    if len(name) != len(other):
        return True
    different = [at for at in range(len(name)) if name[at] != other[at]]
    return len(different) == 1 or (
        len(different) == 2 and name[different[0]] == other[different[1]] and name[different[1]] == other[different[0]]
    )
