"""The descriptions in a store of predicates whose facts it does not list: how they follow from the listed facts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from everlog.analysis.modules.hidden import is_intermediate
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.modules.printing import shown_in
from everlog.analysis.stratify import StratifiedProgram
from everlog.lang.syntax import Predicate


def closures_of(program: StratifiedProgram, generated: Collection[Predicate]) -> list[dict[str, Any]]:
    """For each predicate the module that derives it: its kind, the derived relation as a path, and the predicates it
    reads.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> from everlog.reasoning.modules.kinds import with_modules
    >>> text = "path(?x, ?y) :- path(?x, ?z), path(?z, ?y) . path(?x, ?y) :- edge(?x, ?y), ~far(?x, ?y) ."
    >>> closures_of(with_modules(stratify(check(parse_program(text)))), [Predicate("path", 2)])
    [{'predicate': 'path/2', 'kind': 'transitive', 'path': '(path external)+', 'reads': ['path/2']}]
    """
    of = {predicate: module for module in program.special for predicate in module.predicates}
    return [_described(predicate, of[predicate], program) for predicate in sorted(generated)]


def _described(predicate: Predicate, module: SpecialModule, program: StratifiedProgram) -> dict[str, Any]:
    shown = {hidden: name for name, hidden in program.external.items()}
    named = (shown.get(read, read) for read in module.inputs)
    reads = sorted({str(read) for read in named if not is_intermediate(read)})
    return {"predicate": str(predicate), "kind": module.kind, "path": module.path(shown_in()), "reads": reads}
