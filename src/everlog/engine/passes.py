"""Observers of the passes of an engine over rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.engine.algebra import AnyEngine
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Rule

if TYPE_CHECKING:
    from everlog.analysis.modules.module import SpecialModule
    from everlog.analysis.stratify import Stratum


class PassObserver:
    """Ignores all passes; :class:`everlog.profiling.recorder.Recorder` records them."""

    def began(self, engine: AnyEngine, rules: RuleSet, phase: str) -> None:
        """Observe that an engine begins a pass over rules."""

    def began_module(self, engine: AnyEngine, stratum: Stratum, module: SpecialModule) -> None:
        """Observe that a module begins to derive its facts."""

    def matched(self, rule: Rule, phase: str, instances: int) -> None:
        """Observe that a rule has been matched."""


IGNORE_PASSES = PassObserver()
