"""Recording a profile while engines work.

Time is measured between events: a pass over the rules of a stratum begins, a rule has been matched. The time from the
beginning of a pass to its last rule is matching; the time from then until the next pass begins is the rest of its
round. A module is a round of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.modules.printing import print_module
from everlog.engine.algebra import AnyEngine
from everlog.engine.rules import RuleSet
from everlog.host.memory import held_memory
from everlog.lang.printer import print_name, print_rule
from everlog.lang.syntax import Predicate, Rule
from everlog.profiling.figures import Round, RuleWork
from everlog.profiling.profile import Profile
from everlog.profiling.watch import UNWATCHED, Watch
from everlog.reasoning.statistics import Listener, RoundEvent

if TYPE_CHECKING:
    from everlog.analysis.stratify import StratifiedProgram, Stratum

SECONDS_BETWEEN_SAMPLES = 0.05
"""Minimum number of seconds between two samples of memory."""

MODULE = "module"
"""The phase of rounds in which a module derives its facts."""


class Recorder(Watch):
    """A watch that fills a profile with the events of the engines that it makes."""

    def __init__(self, profile: Profile, program: StratifiedProgram) -> None:
        self.profile = profile
        self._start = self._mark = time.perf_counter()
        self._sampled = float("-inf")
        self._program = program
        self._texts = as_written(program)
        self._strata = {id(rule): stratum.index for stratum in program.strata for rule in stratum.rules}
        self._known: list[Rule] = []
        """The rules seen so far, kept alive because they are identified by ``id``."""
        self._engine: AnyEngine | None = None
        self._round: Round | None = None
        self._before = (0, 0)
        """The numbers of instances and facts at the beginning of the round."""
        self._numbers: dict[tuple[int, str], int] = {}
        self._group_rules: Sequence[Rule] = ()
        """The rules of the round, if they are recorded as one entry."""
        self._derived: dict[tuple[int, str], Counter[Predicate]] = {}
        """The number of instances of rules that are recorded as one entry, by the predicate that they derive."""
        prefixes = program.program.prefixes
        for stratum in program.strata:
            names = (print_name(predicate.name, prefixes) for predicate in stratum.predicates)
            profile.derives[stratum.index] = ", ".join(dict.fromkeys(names))

    def listener(self, other: Listener | None = None) -> Listener:
        tell: Callable[[RoundEvent], None] = (other or Listener()).round_done

        def round_done(event: RoundEvent) -> None:
            self._note_round(event)
            tell(event)

        return Listener(round_done)

    def began(self, engine: AnyEngine, rules: RuleSet, phase: str, *, as_one: bool = False) -> None:
        """Observe that an engine begins a pass over rules; a call without rules continues the current pass."""
        if rules.rules:
            stratum = self._strata.get(id(rules.rules[0].rule), 0)
            group = [planned.rule for planned in rules.rules] if as_one else []
            self.began_group(engine, stratum, group, phase)
        else:
            self._engine = self._engine or engine

    def began_group(self, engine: AnyEngine, stratum: int, rules: Sequence[Rule], phase: str) -> None:
        """Called when an engine begins a pass that it reports as one entry, with ``jobs_done`` at its end."""
        self._begin(engine, stratum, phase)
        self._group_rules = rules
        self._known += rules

    def began_module(self, engine: AnyEngine, stratum: Stratum, module: SpecialModule) -> None:
        self._begin(engine, stratum.index, MODULE)
        key = (id(module), MODULE)
        if key not in self.profile.work:
            text = f"module {print_module(module, self._program.program.prefixes)}"
            self.profile.work[key] = RuleWork(text, "", stratum.index, MODULE)

    def matched(self, rule: Rule, phase: str, instances: int) -> None:
        now = time.perf_counter()
        work = self.profile.work.get((id(rule), phase)) or self._work_of(rule, phase)
        work.passes += 1
        work.instances += instances
        work.seconds += now - self._mark
        if self._round is not None:
            self._round.matching += now - self._mark
        self._mark = now
        self._sample(now)

    def jobs_done(self, instances: Mapping[Predicate, int]) -> None:
        """Called when Spark has evaluated rules; ``instances`` has the number of instances for each predicate."""
        now = time.perf_counter()
        if self._round is not None:
            self._derived.setdefault(self._group(self._round.phase), Counter()).update(instances)
            self._round.matching += now - self._mark
        self._mark = now
        self._sample(now)

    def close(self) -> None:
        self._end(time.perf_counter())
        self._engine = None

    # rounds ---------------------------------------------------------------------------------------

    def _begin(self, engine: AnyEngine, stratum: int, phase: str) -> None:
        now = time.perf_counter()
        self._end(now)
        self._engine, self._group_rules = engine, ()
        self._before = (engine.work.instances.total(), engine.held)
        self._round = Round(stratum, phase, 0, now - self._start)
        self._mark = now
        self._sample(now)

    def _note_round(self, event: RoundEvent) -> None:
        """Note the figures that a materialisation reports about the round."""
        if self._engine is not None and (self._round is None or self._round.stratum != event.stratum):
            self._begin(self._engine, event.stratum, "forward")
        if self._round is not None:
            self._round.new_facts += event.new_facts

    def _end(self, now: float) -> None:
        """Record the current round."""
        done, self._round = self._round, None
        self.profile.seconds = now - self._start
        if done is None or self._engine is None:
            return
        instances, facts = self._before
        done.seconds = now - self._start - done.begun
        done.instances = self._engine.work.instances.total() - instances
        done.facts = self._engine.held
        done.new_facts = done.new_facts or done.facts - facts
        key = (done.stratum, done.phase)
        done.number = self._numbers[key] = self._numbers.get(key, 0) + 1
        self.profile.rounds.append(done)
        if done.phase == MODULE:
            self._credit_module(done)
        elif self._group_rules and done.matching:
            self._credit_group(done)
        if self.profile.observer is not None:
            self.profile.observer(done)

    def _group(self, phase: str) -> tuple[int, str]:
        return hash(tuple(map(id, self._group_rules))), phase

    def _credit_group(self, done: Round) -> None:
        """Record a round for all its rules as one entry."""
        rules, key = self._group_rules, self._group(done.phase)
        work = self.profile.work.get(key)
        if work is None:
            place = _place(rules[0]) if len(rules) == 1 else ""
            work = self.profile.work[key] = RuleWork("", place, done.stratum, done.phase, rules=len(rules))
        work.passes += 1
        work.instances += done.instances
        work.seconds += done.matching
        work.rule = self._texts(rules[0]) if len(rules) == 1 else self._summary(rules, self._derived.get(key))

    def _summary(self, rules: Sequence[Rule], derived: Counter[Predicate] | None) -> str:
        """A label for several rules, with the number of instances of each predicate if it is known."""
        prefixes = self._program.program.prefixes
        heads = dict.fromkeys(rule.head.predicate for rule in rules)
        found = derived or Counter()
        named = (
            f"{print_name(p.name, prefixes)} {found[p]:,}" if found else print_name(p.name, prefixes)
            for p in sorted(heads, key=lambda p: (-found[p], p))
        )
        return f"{len(rules)} rules together: {', '.join(named)}"

    def _credit_module(self, done: Round) -> None:
        done.matching = done.seconds
        for work in self.profile.work.values():
            if work.phase == MODULE and work.stratum == done.stratum:
                work.passes += 1
                work.seconds += done.seconds

    def _work_of(self, rule: Rule, phase: str) -> RuleWork:
        made = RuleWork(self._texts(rule), _place(rule), self._strata.get(id(rule), 0), phase)
        self.profile.work[id(rule), phase] = made
        self._known.append(rule)
        return made

    def _sample(self, now: float) -> None:
        if now - self._sampled >= SECONDS_BETWEEN_SAMPLES:
            self._sampled = now
            self.profile.memory.append((now - self._start, held_memory()))


@contextmanager
def watching(profile: Profile | bool | None, program: StratifiedProgram) -> Iterator[Watch]:
    """A watch that records into a profile, if one is given."""
    if profile is None or isinstance(profile, bool):
        yield UNWATCHED
        return
    recorder = Recorder(profile, program)
    try:
        yield recorder
    finally:
        recorder.close()


def as_written(program: StratifiedProgram) -> Callable[[Rule], str]:
    """A function that returns the text of a rule as it was written, if it was written."""
    checked = program.program
    texts = checked.written.rules if checked.written is not None else checked.rules
    written = {id(rule): before for rule, before in zip(checked.rules, texts, strict=True)}
    return lambda rule: print_rule(written.get(id(rule), rule), checked.prefixes)


def _place(rule: Rule) -> str:
    return "" if rule.span is None else f"{rule.span.source.name}:{rule.span.line}"
