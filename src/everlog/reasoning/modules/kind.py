"""The parts of a kind of special modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everlog.analysis.modules.module import Detection, SpecialModule

if TYPE_CHECKING:
    from everlog.reasoning.modules.implementation import ModuleImplementation


@dataclass(frozen=True)
class ModuleKind:
    """A kind of special modules, with all that the rest of the system needs."""

    description: type[SpecialModule]
    """The class of modules of the kind, which needs no facts."""
    detection: Detection
    """Finds the rules that the kind takes."""
    implementation: Callable[[Any], ModuleImplementation[Any]]
    """Returns the implementation of a module, given its description."""
