"""Programs with only those special modules that are strata of their own."""

from __future__ import annotations

from everlog.analysis import modular
from everlog.analysis.stratify import StratifiedProgram
from everlog.reasoning.modules.kinds import MODULE_KINDS


def with_outer(program: StratifiedProgram) -> StratifiedProgram:
    """The program with these modules alone."""
    return modular.with_outer(program, [kind.detection for kind in MODULE_KINDS])
