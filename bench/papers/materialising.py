"""Materialising with and without modules, for each kind of bookkeeping: seconds, instances and memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bench.maintenance.setting import limits_of, numbered_constants, relations_of, timed
from bench.maintenance.workloads import Facts
from bench.modules.setting import State
from bench.papers import prepared
from bench.peers import peak_mb
from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.engine.match import Engine
from everlog.lang.parser import parse_program
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.update import materialise

BOOKKEEPING = ("none", "dredc", "counting")
RUNS = 5
"""Maximum number of runs."""

REPEAT_SECONDS = 4.0
"""Materialising is repeated until its runs have taken this number of seconds in total."""


def materialising(directory: str, modules: bool, maintain: Any, limit: float) -> dict[str, Any]:
    """The best run; each run is stopped after ``limit`` seconds."""
    rules, facts = prepared.read(directory)
    plain = stratify(check(parse_program(rules)))
    program = with_modules(plain) if modules else plain
    _run(program, prepared.few(facts), maintain, None)
    seconds, results = list[float](), dict[str, Any]()
    while len(seconds) < RUNS and sum(seconds) < REPEAT_SECONDS:
        spent, done = _run(program, facts, maintain, limit)
        if done is None:
            return {"cut_off": spent}
        seconds.append(spent)
        state, statistics = done
        results = {
            "instances": statistics.instances,
            "explicit": state.explicit.count,
            "facts": _visible(program, state),
            "held": State(state).nbytes,
            "bookkeeping": state.nbytes,
            "peak_mb": results.get("peak_mb") or peak_mb(),
        }
    strata = [(len(stratum.recursive), len(stratum.rules)) for stratum in plain.strata]
    return {"seconds": min(seconds), "runs": len(seconds), **results, "strata": strata, **_modules(program)}


def _run(program: StratifiedProgram, facts: Facts, maintain: Any, limit: float | None) -> Any:
    """The seconds, and the materialisation with its statistics; without these if it was stopped."""
    terms = 1 + max(int(rows.max()) for rows in facts.values() if len(rows))
    constants = numbered_constants(program, terms)
    universe = terms + len(constants)
    explicit = relations_of(facts, universe).renamed(program.external)
    engine = Engine(universe, constants, limits=limits_of(limit))
    return timed(lambda: materialise(engine, program, explicit, maintain))


def _visible(program: StratifiedProgram, state: Any) -> int:
    """The number of facts without those of hidden predicates."""
    hidden = set(program.external.values())
    return int(state.facts.restricted(p for p in state.facts if p not in hidden).count)


def _modules(program: StratifiedProgram) -> dict[str, Any]:
    """Numbers of modules by kind; ``alone`` are those that are strata of their own."""
    return {
        "found": Counter(module.kind for module in program.special),
        "alone": Counter(stratum.alone.kind for stratum in program.strata if stratum.alone is not None),
        "untaken": len(program.untaken),
    }
