"""Rule instances that the papers' sequential algorithms consider, to compare ours with."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench.maintenance.setting import Setting
from everlog.engine.factset import FactSet

ORACLE = "tests.oracle.sequential"
"""The module with the sequential algorithms. Its function ``instances(program, explicit, delete, algorithm)`` takes a
stratified program and sets of facts of the local engine, and returns the number of instances of each phase."""

COUNTED = ("dred", "fbf", "bfc")


def sequential_instances(setting: Setting, delete: FactSet) -> dict[str, dict[str, int]]:
    """The instances by algorithm and phase; empty if the sequential algorithms are not there."""
    if find_spec(ORACLE) is None:
        return {}
    count: Any = import_module(ORACLE).instances
    return {name: dict(count(setting.program, setting.bare.explicit, delete, name)) for name in COUNTED}
