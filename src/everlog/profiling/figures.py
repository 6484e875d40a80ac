"""The figures of a profile: time and instances of each round and each rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Round:
    """One pass over the rules of a stratum, or one run of a module.

    ``number`` counts within stratum and phase. ``matching`` are the seconds in which rules were matched with facts; in
    the others the new facts were merged with the known ones, and derivations counted. ``new_facts`` is negative where
    facts are removed.
    """

    stratum: int
    phase: str
    number: int
    begun: float
    seconds: float = 0.0
    matching: float = 0.0
    instances: int = 0
    new_facts: int = 0
    facts: int = 0


@dataclass(slots=True)
class RuleWork:
    """Time and instances of one rule, or of one module, in one phase.

    ``passes`` is the number of matches: in each round one for each body atom whose facts had changed. On Spark the
    rules that one job evaluates have one entry together; ``rules`` is their number, and ``passes`` the number of
    rounds.
    """

    rule: str
    place: str
    stratum: int
    phase: str
    passes: int = 0
    instances: int = 0
    seconds: float = 0.0
    rules: int = 1


@dataclass(frozen=True, slots=True)
class StratumWork:
    """The sums over the rounds of a stratum."""

    stratum: int
    derives: str
    rounds: int
    instances: int
    new_facts: int
    seconds: float
    matching: float


@dataclass
class Figures:
    """All figures of a profile, from which tables and pages are made."""

    rounds: list[Round] = field(default_factory=list)
    work: dict[tuple[int, str], RuleWork] = field(default_factory=dict, repr=False)
    derives: dict[int, str] = field(default_factory=dict)
    """The predicates of each stratum."""
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Samples of memory: seconds since the beginning, and the bytes that the process held then."""
    phases: dict[str, float] = field(default_factory=dict)
    """The seconds of each phase of a command, of which reasoning is one."""
    seconds: float = 0.0
    observer: Callable[[Round], None] | None = field(default=None, repr=False)
    """Called with each round when it ends."""

    @property
    def rules(self) -> list[RuleWork]:
        """The rules by time, the slowest first."""
        return sorted(self.work.values(), key=lambda work: (-work.seconds, -work.instances, work.rule))

    @property
    def heaviest_rounds(self) -> list[Round]:
        """The rounds by time, the slowest first."""
        return sorted(self.rounds, key=lambda each: (-each.seconds, each.begun))

    @property
    def strata(self) -> list[StratumWork]:
        """The strata in the order of evaluation."""
        found: dict[int, list[Round]] = {}
        for each in self.rounds:
            found.setdefault(each.stratum, []).append(each)
        return [self._sum(stratum, rounds) for stratum, rounds in sorted(found.items())]

    @property
    def instances(self) -> int:
        return sum(each.instances for each in self.rounds)

    @property
    def matching(self) -> float:
        """The seconds in which rules were matched with facts."""
        return sum(each.matching for each in self.rounds)

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data, without rounds and memory."""
        return {
            "seconds": self.seconds,
            "matching": self.matching,
            "instances": self.instances,
            "strata": [asdict(each) for each in self.strata],
            "rules": [asdict(each) for each in self.rules],
            "phases": dict(self.phases),
        }

    def _sum(self, stratum: int, rounds: Sequence[Round]) -> StratumWork:
        return StratumWork(
            stratum,
            self.derives.get(stratum, ""),
            len(rounds),
            sum(each.instances for each in rounds),
            sum(each.new_facts for each in rounds),
            sum(each.seconds for each in rounds),
            sum(each.matching for each in rounds),
        )
