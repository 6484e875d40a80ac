"""What belongs to a kind of special modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everlog.analysis.modules.module import Detection, SpecialModule

if TYPE_CHECKING:
    from everlog.reasoning.modules.implementation import ModuleImplementation


@dataclass(frozen=True)
class ModuleKind:
    """A kind of special modules: all that the rest of the system asks."""

    description: type[SpecialModule]
    """What a module of the kind is, as far as that needs no facts."""
    detection: Detection
    """Which rules the kind takes."""
    implementation: Callable[[Any], ModuleImplementation[Any]]
    """What is done with the facts of a module, given its description."""
