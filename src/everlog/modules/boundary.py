"""Between what users see and what reasoning keeps: explicit facts of a module's predicate feed it under a hidden name.

Outside, a predicate of a module has its explicit facts, its counters of outside derivations and all its pairs.
Inside, the first two belong to the hidden predicate, and the pairs are in the form the module gives them.
"""

from __future__ import annotations

from dataclasses import replace

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import FactSet
from everlog.engine.match import Engine, RuleSet
from everlog.modules.derive import derive
from everlog.reasoning.materialisation import Materialisation


def outward(program: StratifiedProgram, kept: Materialisation) -> Materialisation:
    """What users see of a materialisation."""
    if not program.external:
        return kept
    seen = {hidden: predicate for predicate, hidden in program.external.items()}
    return replace(
        kept,
        explicit=kept.explicit.renamed(seen),
        facts=visible(program, kept.facts),
        nr=None if kept.nr is None else kept.nr.renamed(seen),
    )


def visible(program: StratifiedProgram, facts: FactSet) -> FactSet:
    """The facts without those of hidden predicates."""
    hidden = set(program.external.values())
    return facts.restricted(p for p in facts if p not in hidden) if hidden else facts


def inward(engine: Engine, program: StratifiedProgram, seen: Materialisation) -> Materialisation:
    """What reasoning keeps for a materialisation that users see, with the relations of modules in their own form."""
    if not program.external:
        return seen
    explicit = seen.explicit.renamed(program.external)
    nr = None if seen.nr is None else seen.nr.renamed(program.external)
    derived = {predicate for stratum in program.strata if stratum.module for predicate in stratum.predicates}
    facts = seen.facts.restricted(p for p in seen.facts if p not in derived)
    facts = facts | explicit.restricted(program.external.values())
    hidden = set(program.external.values())
    for stratum in program.strata:
        feeding = [rule for rule in stratum.rules if rule.head.predicate in hidden]
        facts = facts | engine.match(RuleSet(feeding), facts, facts, phase="opening").facts()
        for module in stratum.modules:
            facts = facts.replaced(derive(module, facts))
    return replace(seen, explicit=explicit, facts=facts, nr=nr)
