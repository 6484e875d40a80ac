"""Finds the rules that are closures: all recursive rules of a component, judged by their words, or some of them."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.analysis.modules.module import Detection, Taken
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.analysis.modules.words import flaw
from everlog.lang.printer import print_name
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.modules.closure.bound import bound_closure
from everlog.reasoning.modules.closure.build import closure
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.inside import closure_inside
from everlog.reasoning.modules.closure.shapes import Misfit, basis_of, flaw_of, is_implied, shape_of


class ClosureDetection(Detection):
    """Takes components whose recursive rules all together are a closure, and closures among other recursive rules."""

    def of_component(self, component: Component, reader: RuleReader) -> Taken | Sequence[str]:
        reasons = _flaws(component, reader)
        if reasons:
            return bound_closure(component, reader) or reasons
        words = [(read.head.predicate, read.word) for read in component.recursive if read.word is not None]
        try:
            shape = shape_of(component.inside, words, component.contained) if words else None
        except Misfit as misfit:
            return [str(misfit)] * len(words)
        return () if shape is None else Taken(closure(component, shape, reader))

    def inside(self, predicate: Predicate, rules: Sequence[Rule]) -> Closure | None:
        return closure_inside(predicate, rules) if predicate.arity == 2 else None


def _flaws(component: Component, reader: RuleReader) -> list[str]:
    """For each recursive rule that no closure can take, the reason; empty if every rule by itself fits a closure."""
    inside, predicate = component.inside, component.predicates[0]

    def own(read: ReadRule) -> str | None:
        if read.word is None:
            return flaw(read.rule) or "its body is not a path between the variables of its head"
        return flaw_of(read.word, inside)

    found = [own(read) for read in component.recursive]
    if any(found) and len(inside) == 1:
        words = {read.word for read in component.recursive if read.word is not None}
        basis = basis_of(predicate, words)
        for at, read in enumerate(component.recursive):
            if read.word is not None and is_implied(read.word, basis, predicate, component.contained):
                found[at] = None
    blamed = next((read.rule for read, why in zip(component.recursive, found, strict=True) if why), None)
    if blamed is None:
        return []
    where = "" if blamed.span is None else f" in line {blamed.span.line}"
    name = print_name(blamed.head.predicate.name, reader.prefixes)
    return [why or f"no module takes the rule for `{name}`{where}, which is part of the recursion" for why in found]
