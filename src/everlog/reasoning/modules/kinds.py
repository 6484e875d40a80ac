"""The kinds of special modules: one line each.

Code that finds, evaluates, repairs, stores, shows or explains modules uses :data:`MODULE_KINDS`. Implementations, which
work on facts, are imported when they are first used, so that programs can be checked without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everlog.analysis import modular
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram
from everlog.reasoning.modules.closure import CLOSURES
from everlog.reasoning.modules.kind import ModuleKind
from everlog.reasoning.modules.union import UNIONS

if TYPE_CHECKING:
    from everlog.reasoning.modules.implementation import ModuleImplementation

MODULE_KINDS: Sequence[ModuleKind] = (
    CLOSURES,
    UNIONS,
)
"""The kinds, in the order in which they may take rules."""


def implementation(module: SpecialModule) -> ModuleImplementation[Any]:
    """The implementation of a module, which derives and repairs its facts."""
    (kind,) = (kind for kind in MODULE_KINDS if kind.description is type(module))
    return kind.implementation(module)


def with_modules(program: StratifiedProgram) -> StratifiedProgram:
    """The program with special modules of all kinds.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> text = "p(?x, ?y) :- e(?x, ?y), ~f(?x) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
    >>> before, after = with_modules(stratify(check(parse_program(text)))).strata
    >>> [str(predicate) for predicate in before.predicates], [module.kind for module in after.special]
    (['p external/2'], ['transitive'])
    """
    return modular.with_modules(program, [kind.detection for kind in MODULE_KINDS])
