"""Modules: groups of rules whose meaning is a closure or a union, to be evaluated as such.

A module takes whole groups of mutually recursive rules. Everything else that derives its predicates,
explicit facts and other rules, goes into a hidden predicate that the module reads. So a module is a
function of what lies in the strata below it.
"""

from everlog.analysis.modules.kinds import Closure, Edge, Module, Transition, Untaken, VirtualUnion
from everlog.analysis.modules.rewrite import with_modules

__all__ = ["Closure", "Edge", "Module", "Transition", "Untaken", "VirtualUnion", "with_modules"]
