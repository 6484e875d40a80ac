"""Rule instances that the papers' sequential B/F considers, to compare ours with."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench.maintenance.setting import Setting
from everlog.engine.factset import FactSet
from everlog.reasoning.change import ExplicitChange

ORACLE = "tests.reasoning.sequential"
"""The module of the sequential search, which is in the repository and not in a wheel."""

COUNTED = ("fbf",)
"""The algorithms whose backward instances are compared with sequential ones."""


def sequential_instances(setting: Setting, delete: FactSet) -> dict[str, dict[str, int]]:
    """The backward instances by algorithm; empty if the sequential search is not there."""
    if find_spec(ORACLE) is None:
        return {}
    change = ExplicitChange.of(setting.bare.explicit, delete)
    update: Any = import_module(ORACLE).Sequential(setting.engine(), setting.program, setting.bare, change)
    update.run()
    return {"fbf": {"backward": update.considered}}
