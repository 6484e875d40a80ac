"""Closures: transitive, symmetric and transitive, linear, and chains of linear rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.detection import ClosureDetection
from everlog.reasoning.modules.kind import ModuleKind

if TYPE_CHECKING:
    from everlog.reasoning.modules.closure.implementation import ClosureImplementation


def _implementation(module: Closure) -> ClosureImplementation:
    from everlog.reasoning.modules.closure.implementation import ClosureImplementation

    return ClosureImplementation(module)


CLOSURES = ModuleKind(Closure, ClosureDetection(), _implementation)
