"""Figures of reasoning: facts, instances, rounds and seconds, in total and by stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from everlog.lang.html import SHOWN, html_table
from everlog.reasoning.equality import Equality


@dataclass(frozen=True, slots=True)
class StratumStatistics:
    """The rules of one stratum, and the figures of their evaluation."""

    index: int
    rules: int
    recursive: int
    facts: int
    """Facts of the stratum's predicates, explicit ones included."""
    instances: int
    rounds: int
    seconds: float
    plan: str = ""
    """The plan by which Spark evaluated it. Instances in decomposed recursion are not counted; closures have none."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """A materialisation: ``facts`` in all, of which ``derived`` are not explicit.

    >>> Statistics(facts=3, explicit=2, instances=1, rounds=1, seconds=0.5).derived
    1
    """

    facts: int
    explicit: int
    instances: int
    rounds: int
    seconds: float
    strata: tuple[StratumStatistics, ...] = ()
    modules: bool = False
    """Whether modules derived some of the facts."""
    stratification: Literal["levels", "single"] = "levels"
    equality: Equality = "off"
    violations: int = 0
    """The number of facts that report a contradiction of an ontology."""

    @property
    def derived(self) -> int:
        return self.facts - self.explicit

    def _repr_html_(self) -> str:
        """The figures of a materialisation as HTML, stratum by stratum."""
        caption = (
            f"{self.facts:,} facts: {self.explicit:,} explicit, {self.derived:,} derived; "
            f"{self.instances:,} instances in {self.rounds:,} rounds, {self.seconds:.3f} s"
        )
        rows = [
            (s.index, s.rules, s.recursive, f"{s.facts:,}", f"{s.instances:,}", f"{s.rounds:,}", f"{s.seconds:.3f}")
            for s in self.strata[:SHOWN]
        ]
        columns = ("stratum", "rules", "recursive", "facts", "instances", "rounds", "seconds")
        return html_table(columns, rows, len(self.strata), caption=caption, numbers=range(len(columns)))

    def as_dict(self) -> dict[str, object]:
        """The figures as plain data, for logs and the store."""
        return {**asdict(self), "derived": self.derived}


@dataclass(frozen=True, slots=True)
class RoundEvent:
    """The state after a round of a stratum, for displays of progress."""

    stratum: int
    strata: int
    round: int
    new_facts: int
    facts: int
    instances: int


@dataclass(frozen=True, slots=True)
class Listener:
    """Observer of the progress of reasoning."""

    round_done: Callable[[RoundEvent], None] = field(default=lambda event: None)


@dataclass
class UpdateStatistics:
    """The figures of an update, as in the columns of the papers' tables.

    Instances by phase: ``delete`` (overdeletion), ``backward`` (rederivation and backward chaining),
    ``forward`` (insertion, and saturation); for Counting ``deleted`` and ``added``.
    """

    algorithm: str
    reason: str = ""
    instances: dict[str, int] = field(default_factory=dict)
    overdeleted: int = 0
    rederived: int = 0
    checked: int = 0
    proved: int = 0
    blocked: int = 0
    budget: int | None = None
    """Maximum number of instances that the algorithm could consider before another was tried; None is no maximum."""
    seconds: float = 0.0

    @classmethod
    def stored(cls, figures: Mapping[str, Any]) -> UpdateStatistics:
        """The figures that a version of a store records of the update that made it."""
        return cls(**{field.name: figures[field.name] for field in fields(cls) if field.name in figures})

    @property
    def total_instances(self) -> int:
        return sum(self.instances.values())

    def then(self, later: UpdateStatistics) -> UpdateStatistics:
        """The summed figures of this update and a later one."""
        phases = dict.fromkeys((*self.instances, *later.instances))
        names = ("overdeleted", "rederived", "checked", "proved", "blocked", "seconds")
        budgets = [budget for budget in (self.budget, later.budget) if budget is not None]
        return UpdateStatistics(
            ", ".join(dict.fromkeys((*self.algorithm.split(", "), *later.algorithm.split(", ")))),
            "; ".join(dict.fromkeys(filter(None, (*self.reason.split("; "), *later.reason.split("; "))))),
            {phase: self.instances.get(phase, 0) + later.instances.get(phase, 0) for phase in phases},
            **{name: getattr(self, name) + getattr(later, name) for name in names},
            budget=sum(budgets) if budgets else None,
        )

    def _repr_html_(self) -> str:
        """The figures of an update as HTML, phase by phase."""
        reason = f" ({self.reason})" if self.reason else ""
        rows = _figures({f"instances, {phase}": number for phase, number in self.instances.items()})
        names = ("overdeleted", "rederived", "checked", "proved", "blocked")
        rows += _figures({name: getattr(self, name) for name in names})
        caption = f"{self.algorithm}{reason}: {self.seconds:.3f} s"
        return html_table(("", "number"), rows, caption=caption, numbers=(1,))


def _figures(found: dict[str, int]) -> list[tuple[str, str]]:
    return [(name, f"{number:,}") for name, number in found.items() if number]
