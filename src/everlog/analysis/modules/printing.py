"""Special modules as text: what they derive as a path, in the manner of SPARQL's property paths.

``a / b`` is a, then b; ``a | b`` is a or b; ``^a`` is a from its second argument to its first; ``a*`` is
any number of a, ``a+`` at least one.
"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.module import Shown, SpecialModule
from everlog.lang.printer import NO_PREFIXES, print_name


def print_module(module: SpecialModule, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The kind of a module and what it derives."""
    return f"{module.kind}: {module.path(shown_in(prefixes))}"


def shown_in(prefixes: Mapping[str, str] = NO_PREFIXES) -> Shown:
    """A function that writes an edge with some prefixes.

    >>> from everlog.lang.syntax import Predicate
    >>> shown_in()(Edge(Predicate("p", 2), inverted=True))
    '^p'
    """

    def shown(edge: Edge) -> str:
        name = print_name(edge.predicate.name, prefixes)
        return f"^{name}" if edge.inverted else name

    return shown
