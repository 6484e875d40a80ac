"""The figures of a profile: what reasoning took, round by round and rule by rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Round:
    """One pass over the rules of a stratum, or one run of a module.

    ``number`` counts within stratum and phase. ``matching`` are the seconds in which rules met facts; in the
    others the new facts were merged with those there, and derivations counted. ``new_facts`` is negative
    where facts are removed.
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
    """What matching one rule, or running one module, took in one phase.

    ``passes`` is how often it was matched: in each round once for each body atom whose facts had changed. On Spark the
    rules that one job evaluates are not told apart; ``rules`` is how many there are, and ``passes`` that of rounds.
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
    """What a stratum took: its rounds together."""

    stratum: int
    derives: str
    rounds: int
    instances: int
    new_facts: int
    seconds: float
    matching: float


@dataclass
class Figures:
    """What reasoning took; what tables and pages are made of."""

    rounds: list[Round] = field(default_factory=list)
    work: dict[tuple[int, str], RuleWork] = field(default_factory=dict, repr=False)
    derives: dict[int, str] = field(default_factory=dict)
    """The predicates of each stratum."""
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Seconds since the beginning, and the bytes that the process held then."""
    phases: dict[str, float] = field(default_factory=dict)
    """The seconds of a command by its phases, reasoning being one of them."""
    seconds: float = 0.0
    told: Callable[[Round], None] | None = field(default=None, repr=False)
    """Who hears of each round as it ends."""

    @property
    def rules(self) -> list[RuleWork]:
        """The rules, the one that took longest first."""
        return sorted(self.work.values(), key=lambda work: (-work.seconds, -work.instances, work.rule))

    @property
    def heaviest_rounds(self) -> list[Round]:
        """The rounds, the one that took longest first."""
        return sorted(self.rounds, key=lambda each: (-each.seconds, each.begun))

    @property
    def strata(self) -> list[StratumWork]:
        """The strata in their order."""
        found: dict[int, list[Round]] = {}
        for each in self.rounds:
            found.setdefault(each.stratum, []).append(each)
        return [self._together(stratum, found[stratum]) for stratum in sorted(found)]

    @property
    def instances(self) -> int:
        return sum(each.instances for each in self.rounds)

    @property
    def matching(self) -> float:
        """The seconds in which rules met facts."""
        return sum(each.matching for each in self.rounds)

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data, rounds and memory left out."""
        return {
            "seconds": self.seconds,
            "matching": self.matching,
            "instances": self.instances,
            "strata": [asdict(each) for each in self.strata],
            "rules": [asdict(each) for each in self.rules],
            "phases": dict(self.phases),
        }

    def _together(self, stratum: int, rounds: Iterable[Round]) -> StratumWork:
        rounds = list(rounds)
        return StratumWork(
            stratum,
            self.derives.get(stratum, ""),
            len(rounds),
            sum(each.instances for each in rounds),
            sum(each.new_facts for each in rounds),
            sum(each.seconds for each in rounds),
            sum(each.matching for each in rounds),
        )
