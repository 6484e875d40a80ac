"""Modules: groups of rules whose meaning is a closure or a union, to be evaluated as such.

A module takes whole groups of mutually recursive rules. Everything else that derives its predicates,
explicit facts and other rules, goes into a hidden predicate that the module reads. So a module is a
function of what lies in the strata below it.

What is here finds the rules that kinds of modules take; :mod:`everlog.analysis.modular` puts the modules into strata.
The kinds themselves are in :mod:`everlog.reasoning.modules`, one package or file each.
"""
