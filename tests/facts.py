"""Facts in texts."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.lang.parser import parse_program
from everlog.lang.printer import NO_PREFIXES
from everlog.lang.syntax import Atom


def parse_fact(text: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> Atom:
    """The fact in a text without a dot at its end."""
    (fact,) = parse_program(f"{text} .", prefixes=prefixes).facts
    return fact
