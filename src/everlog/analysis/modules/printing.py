"""Modules as text: what they derive as a path, in the manner of SPARQL's property paths.

``a / b`` is a, then b; ``a | b`` is a or b; ``^a`` is a from its second argument to its first; ``a*`` is
any number of a, ``a+`` at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from everlog.analysis.modules.kinds import Closure, Edge, Module, VirtualUnion
from everlog.lang.printer import NO_PREFIXES, print_name

Shown = Callable[[Edge], str]


def print_module(module: Module, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The kind of a module and what it derives.

    >>> from everlog.analysis.modules.kinds import hidden
    >>> from everlog.lang.syntax import Predicate
    >>> p = Predicate("p", 2)
    >>> print_module(Closure("transitive", (p,), (), {p: hidden(p)}))
    'transitive: (p external)+'
    """

    def shown(edge: Edge) -> str:
        name = print_name(edge.predicate.name, prefixes)
        return f"^{name}" if edge.inverted else name

    if isinstance(module, VirtualUnion):
        return f"union: {' | '.join(map(shown, module.parts))}"
    if module.kind == "chain":
        return f"chain: {_transitions(module, shown)}"
    outside = Edge(module.external[module.predicates[0]])
    if module.kind == "linear" and len(module.states) > 1:
        return f"linear: {_bound(module, shown)}"
    if module.kind == "linear":
        return f"linear: {_linear(module, shown(outside), shown)}"
    edges = [outside] if module.kind == "transitive" else [outside, outside.inverse]
    return f"{module.kind}: {_repeated(edges, '+', shown)}"


def _linear(module: Closure, outside: str, shown: Shown) -> str:
    edges = [move.edge for move in module.transitions if move.edge is not None]
    many = _repeated(edges, "*", shown)
    path = f"{many} / {outside}" if module.mirrored else f"{outside} / {many}"
    return f"{path} | {_repeated(edges, '+', shown)}" if module.closed else path


def _bound(module: Closure, shown: Shown) -> str:
    """What goes on from a constant, and what does not."""
    outside, going = (shown(Edge(predicate)) for predicate in module.external.values())
    edges = dict.fromkeys(move.edge for move in module.transitions if move.edge is not None)
    many = _repeated(edges, "+", shown)
    return f"{outside} | {many} / {going}" if module.mirrored else f"{outside} | {going} / {many}"


def _transitions(module: Closure, shown: Shown) -> str:
    """Each state with how it is reached; states inside a chain are numbers."""

    def state(number: int) -> str:
        predicate = module.states[number]
        return str(number) if predicate is None else shown(Edge(predicate))

    def move(source: int, edge: Edge | None, target: int) -> str:
        steps = [state(source), *([] if edge is None else [shown(edge)])]
        return f"{state(target)} = {' / '.join(reversed(steps) if module.mirrored else steps)}"

    return ", ".join(move(each.source, each.edge, each.target) for each in module.transitions)


def _repeated(edges: Iterable[Edge], sign: str, shown: Shown) -> str:
    texts = list(map(shown, edges))
    together = " | ".join(texts)
    return f"({together}){sign}" if " " in together else f"{together}{sign}"
