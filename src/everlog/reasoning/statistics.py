"""What reasoning did: facts, instances, rounds and seconds, in total and by stratum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Literal

from everlog.lang.html import SHOWN, html_table
from everlog.reasoning.equality import Equality


@dataclass(frozen=True, slots=True)
class StratumStatistics:
    """One stratum: its rules, and what evaluating them took."""

    index: int
    rules: int
    recursive: int
    facts: int
    """Facts of the stratum's predicates, explicit ones included."""
    instances: int
    rounds: int
    seconds: float
    plan: str = ""
    """How Spark evaluated it. Instances in decomposed recursion are not counted, nor are there any in closures."""


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
    """How many of the facts say that something contradicts an ontology."""

    @property
    def derived(self) -> int:
        return self.facts - self.explicit

    def _repr_html_(self) -> str:
        """What a materialisation took, stratum by stratum."""
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
    """Sent after each round of a stratum to whoever shows progress."""

    stratum: int
    strata: int
    round: int
    new_facts: int
    facts: int
    instances: int


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told how reasoning gets on."""

    round_done: Callable[[RoundEvent], None] = field(default=lambda event: None)


@dataclass
class UpdateStatistics:
    """An update in the columns of the papers' tables.

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
    """How many instances the algorithm might consider before another was tried."""
    seconds: float = 0.0

    @property
    def total_instances(self) -> int:
        return sum(self.instances.values())

    def then(self, later: UpdateStatistics) -> UpdateStatistics:
        """What this update and a later one took together."""
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
        """What an update took, phase by phase."""
        reason = f" ({self.reason})" if self.reason else ""
        rows = _figures({f"instances, {phase}": number for phase, number in self.instances.items()})
        names = ("overdeleted", "rederived", "checked", "proved", "blocked")
        rows += _figures({name: getattr(self, name) for name in names})
        caption = f"{self.algorithm}{reason}: {self.seconds:.3f} s"
        return html_table(("", "number"), rows, caption=caption, numbers=(1,))


def _figures(found: dict[str, int]) -> list[tuple[str, str]]:
    return [(name, f"{number:,}") for name, number in found.items() if number]
