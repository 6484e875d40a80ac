"""Opens a version of a store for the local engine; facts are read only when they are looked up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.lookup.facts import LookedUpFacts
from everlog.backends.too_much import TooMuchError
from everlog.backends.working import OpenedVersion
from everlog.engine.factset import FactSet
from everlog.engine.multiset import Counts, Multiset
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.names import Algorithm
from everlog.store import VersionInfo
from everlog.store.codec import COUNTED
from everlog.store.loading import generated_in
from everlog.store.schema import FEEDING


def opened(
    looked_up: LookedUpFacts,
    program: StratifiedProgram,
    info: VersionInfo,
    predicates: Iterable[Predicate],
    algorithm: Algorithm = "auto",
) -> OpenedVersion[FactSet, Counts]:
    """A version, for an update; ``predicates`` are those of the program and of the change.

    Where the counters of the version are those of modules, the facts that feed a module are those that are explicit or
    have a counter above zero; they are under a hidden name. Closures that the store does not list are derived if a rule
    or another module reads them.
    """
    hidden, generated, figures = program.external, generated_in(info), info.statistics
    is_counted = info.bookkeeping == COUNTED
    if any(stratum.is_mixed for stratum in program.strata):
        raise TooMuchError("modules and rules depend on each other")
    if algorithm == "rematerialise":
        raise TooMuchError("everything would be derived again")
    if algorithm == "counting" or (not is_counted and (generated or algorithm in ("dredc", "bfc"))):
        raise TooMuchError("all derivations would be counted")
    facts: dict[Predicate, Relation] = {}
    explicit: dict[Predicate, Relation] = {}
    nr: dict[Predicate, Multiset] = {}
    rec: dict[Predicate, Multiset] = {}
    inside = frozenset(hidden.values())
    for predicate in sorted(set(predicates) - inside):
        found, name = looked_up.of(predicate), hidden.get(predicate, predicate)
        if not found.size:
            continue
        if predicate not in generated:
            facts[predicate] = found.having("holds")
        if predicate in hidden:
            found = looked_up.of(predicate, *FEEDING)
            facts[name] = found.having(*FEEDING)
        explicit[name] = found.having("explicit")
        if is_counted:
            nr[name], rec[name] = found.numbers("nr"), found.numbers("rec")
    listed = FactSet(_with_generated(program, FactSet(facts), generated), figures["facts"])
    given = FactSet(explicit, figures["explicit"])
    known = Materialisation(given, listed, instances=figures["instances"])
    known = replace(known, nr=Counts(nr), rec=Counts(rec)) if is_counted else known
    return OpenedVersion(program, known, generated, figures)


def _with_generated(program: StratifiedProgram, facts: FactSet, generated: frozenset[Predicate]) -> FactSet:
    """The facts, and those derived for generated predicates that rules or other modules read."""
    strata = [stratum for stratum in program.strata if not generated.isdisjoint(stratum.predicates)]
    if not strata:
        return facts
    read = {atom.predicate for stratum in program.strata for rule in stratum.rules for atom in rule.body}
    read.update(p for module in program.special for p in module.inputs)
    for stratum in strata:
        if stratum.alone is not None and not read.isdisjoint(stratum.predicates):
            known = facts.restricted(stratum.alone.inputs)
            facts = facts.replaced(implementation(stratum.alone).derive(known))
    return facts
