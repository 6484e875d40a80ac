"""The kinds of special modules: one line each.

A kind is a description (:class:`~everlog.analysis.modules.module.SpecialModule`), what finds the rules that it takes
(:class:`~everlog.analysis.modules.module.Detection`), and what it does with facts
(:class:`~everlog.reasoning.modules.implementation.ModuleImplementation`). All else asks these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from everlog.analysis.modules import rewrite
from everlog.analysis.modules.module import Detection, SpecialModule
from everlog.analysis.stratify import StratifiedProgram
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.detection import ClosureDetection
from everlog.reasoning.modules.closure.implementation import ClosureImplementation
from everlog.reasoning.modules.implementation import ModuleImplementation
from everlog.reasoning.modules.union.description import VirtualUnion
from everlog.reasoning.modules.union.detection import UnionDetection
from everlog.reasoning.modules.union.implementation import UnionImplementation


@dataclass(frozen=True)
class Kind:
    """What belongs to a kind of modules."""

    description: type[SpecialModule]
    detection: Detection
    implementation: Callable[[Any], ModuleImplementation[Any]]


KINDS: Sequence[Kind] = (
    Kind(Closure, ClosureDetection(), ClosureImplementation),
    Kind(VirtualUnion, UnionDetection(), UnionImplementation),
)
"""In the order in which they are asked for rules."""


def implementation(module: SpecialModule) -> ModuleImplementation[Any]:
    """What is done with the facts of a module."""
    return next(kind.implementation(module) for kind in KINDS if kind.description is type(module))


def with_modules(program: StratifiedProgram) -> StratifiedProgram:
    """The same program with special modules of all kinds.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> text = "p(?x, ?y) :- e(?x, ?y), ~f(?x) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
    >>> before, after = with_modules(stratify(check(parse_program(text)))).strata
    >>> [str(predicate) for predicate in before.predicates], [module.kind for module in after.special]
    (['p external/2'], ['transitive'])
    """
    return rewrite.with_modules(program, detections())


def with_outer(program: StratifiedProgram) -> StratifiedProgram:
    """The same program with only those special modules that are strata of their own."""
    return rewrite.with_outer(program, detections())


def detections() -> tuple[Detection, ...]:
    return tuple(kind.detection for kind in KINDS)
