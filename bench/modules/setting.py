"""A program with its facts in one of three forms, materialised and updated directly on the engine.

*standard* is general rules; *plain* computes closures and unions as modules and lists their pairs; *compact* keeps
modules in their compact form. States are immutable, so every update can start from any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from bench.maintenance.setting import limits_of, relations_of, timed
from bench.maintenance.workloads import Facts
from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine
from everlog.lang.parser import parse_program
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation, with_counters
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update

Form = Literal["standard", "plain", "compact"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class State:
    """The state between updates; ``listed`` are the pairs of the modules in the plain form."""

    kept: Materialisation
    listed: FactSet = field(default_factory=FactSet)

    @property
    def facts(self) -> FactSet:
        """All facts in the form that queries read."""
        return self.kept.facts.replaced(self.listed)

    @property
    def nbytes(self) -> int:
        """The memory of facts, explicit facts and bookkeeping; arrays that relations share are counted once."""
        held: dict[int, int] = {}
        for relation in (*self.facts.values(), *self.kept.explicit.values()):
            held.update((id(run), run.nbytes) for run in relation.runs + relation.tombstones)
            if relation.base is not None:
                held[id(getattr(relation.base, "graph", relation.base))] = relation.base.nbytes
        return sum(held.values()) + self.kept.nbytes


@dataclass(frozen=True)
class Step:
    """A timed step with numbers of deleted and inserted facts; ``state`` is None if it was stopped at the limit."""

    seconds: float
    state: State | None
    deleted: int = 0
    inserted: int = 0


class Setting:
    """A program and its explicit facts in one form."""

    def __init__(self, rules: str, facts: Facts, form: Form) -> None:
        plain = stratify(check(parse_program(rules)))
        self.form = form
        self.program = plain if form == "standard" else with_modules(plain)
        self.universe = 1 + max(int(rows.max()) for rows in facts.values() if len(rows))
        self.explicit = self.encoded(facts)

    def encoded(self, facts: Facts) -> FactSet:
        """The facts as relations of the engine; explicit facts of a module's predicate have a hidden predicate."""
        return relations_of(facts, self.universe).renamed(self.program.external)

    def engine(self, limit: float | None = None, constants: Mapping[str, int] = MappingProxyType({})) -> Engine:
        """An engine that stops with an error after ``limit`` seconds."""
        return Engine(self.universe, constants, limits=limits_of(limit))

    def materialised(self, limit: float | None = None) -> Step:
        """Materialise in this form, without bookkeeping."""
        engine = self.engine(limit)

        def materialise() -> State:
            facts, statistics = close_strata(engine, self.program, self.explicit)
            compact = [(p, r) for p, r in facts.items() if self.form == "plain" and r.base is not None]
            kept = Materialisation(self.explicit, facts.settled(), instances=statistics.instances)
            return State(kept, FactSet({p: relation.plain() for p, relation in compact}))

        return Step(*timed(materialise))

    def counted(self, state: State, limit: float | None = None) -> Step:
        """The state with the counters that updates need."""
        engine = self.engine(limit)
        return Step(*timed(lambda: replace(state, kept=with_counters(engine, self.program, state.kept))))

    def updated(self, state: State, delete: FactSet = NONE, insert: FactSet = NONE, limit: float | None = None) -> Step:
        """Update by DRed^c, and modules by their own algorithms."""
        engine = self.engine(limit)

        def change() -> tuple[SignedChange, State]:
            done = update(engine, self.program, state.kept, delete, insert, "dredc")
            listed = {p: (r - done.deleted.relation(p)) | done.inserted.relation(p) for p, r in state.listed.items()}
            return done, State(done.materialisation, FactSet(listed))

        spent, made = timed(change)
        if made is None:
            return Step(spent, None)
        done, new = made
        return Step(spent, new, self.visible(done.deleted).count, self.visible(done.inserted).count)

    def visible(self, facts: FactSet) -> FactSet:
        """The facts without those of hidden predicates."""
        hidden = set(self.program.external.values())
        return facts.restricted(predicate for predicate in facts if predicate not in hidden)

    def modules(self) -> dict[str, int]:
        return dict(Counter(stratum.alone.kind for stratum in self.program.strata if stratum.alone is not None))
