"""Virtual unions: predicates that are the union of others and store no facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.reasoning.modules.kind import ModuleKind
from everlog.reasoning.modules.union.description import VirtualUnion
from everlog.reasoning.modules.union.detection import UnionDetection

if TYPE_CHECKING:
    from everlog.reasoning.modules.union.implementation import UnionImplementation


def _implementation(module: VirtualUnion) -> UnionImplementation:
    from everlog.reasoning.modules.union.implementation import UnionImplementation

    return UnionImplementation(module)


UNIONS = ModuleKind(VirtualUnion, UnionDetection(), _implementation)
