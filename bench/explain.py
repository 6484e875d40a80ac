"""Explain random derived facts and check every proof.

The time is that of ``kb.explain`` for all facts at once, with all proofs as objects. It excludes loading,
materialising, and a first call that compiles code. The proofs are checked by the checker of the tests against the rules
as written; the knowledge base says which facts are explicit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import everlog
from bench import generators
from bench.maintenance import lubm as universities
from bench.progress import log_progress
from bench.rdf.data import ONTOLOGY, RdfWorkload
from bench.report import Report, Results, Target, listing
from bench.suites import Benchmark
from everlog.analysis.predicates import Key
from everlog.lang.syntax import Atom, Predicate
from everlog.lang.terms import value_of
from everlog.query.explain import Explanation
from tests.query.explain.checker import check_explanation

SAMPLE, RUNS = 1_000, 5
"""Number of facts explained at once, and of timed calls."""
CLOSURE = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
LINEAR = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
SAME = f"{CLOSURE} path(?x, ?y) :- path(?y, ?x) ."
PROMISED = ("lubm-10", "dag-r")

Facts = Mapping[Key, Any]


@dataclass(frozen=True)
class Task:
    """A knowledge base to explain; ``make(True)`` builds a small one, ``make(False)`` the full one."""

    name: str
    about: str
    make: Callable[[bool], everlog.KnowledgeBase]
    checked: int = SAMPLE
    """Maximum number of proofs that are checked: the checker is slow for long paths."""


def _graph(rules: str, full: Callable[[], Any], quick: Callable[[], Any]) -> Callable[[bool], everlog.KnowledgeBase]:
    def make(small: bool) -> everlog.KnowledgeBase:
        kb = everlog.KnowledgeBase(rules, maintain="none")
        kb.insert("edge", np.asarray(quick() if small else full()))
        return kb

    return make


def _rules(small: bool) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(universities.rules(), maintain="none")
    for predicate, rows in universities.universities(1 if small else 15, seed=1).items():
        kb.insert(predicate, rows)
    return kb


def _lubm(small: bool) -> everlog.KnowledgeBase:
    from bench.rdf.reasoners import program

    with tempfile.TemporaryDirectory() as scratch:
        RdfWorkload("lubm", 2 if small else 10).write(Path(scratch))
        return everlog.KnowledgeBase(program(Path(scratch), "lower", "data.nt"), maintain="none")


def _dag(nodes: int, edges: int) -> Callable[[], Any]:
    return lambda: generators.random_dag(nodes, edges)


def _component(nodes: int) -> Callable[[], Any]:
    return lambda: generators.sparse_component(nodes, 0.05, 1)


TASKS = (
    Task("lubm-10", "LUBM's ontology as rules, 10 generated universities", _lubm),
    Task("universities", "74 rules with joins, 15 universities", _rules),
    Task("dag-r", "nonlinear closure of a DAG, 10,000 nodes", _graph(CLOSURE, _dag(10_000, 100_000), _dag(300, 3_000))),
    Task("dag-r-linear", "linear closure of the same", _graph(LINEAR, _dag(10_000, 100_000), _dag(300, 3_000))),
    Task("component", "symmetric and transitive closure of a sparse graph, 3,300 nodes",
         _graph(SAME, _component(3_300), _component(200)), checked=100),
)  # fmt: skip


def measure(options: argparse.Namespace) -> Report:
    results = []
    for task in TASKS:
        if options.names and task.name not in options.names:
            continue
        if task.name.startswith("lubm") and not ONTOLOGY.exists():
            log_progress(f"{task.name} skipped: its ontology is not here")
            continue
        log_progress(task.name)
        results.append(explain_sample(task, options.quick))
    wrong = [f"{each['task']}: {each['checked']} of {each['asked']} proofs check" for each in results
             if each["checked"] != each["asked"]]  # fmt: skip
    return Report(
        {"tasks": results}, targets(results), ["## Random derived facts", SAYS, listing(COLUMNS, results)], wrong
    )


def explain_sample(task: Task, quick: bool) -> dict[str, Any]:
    began = perf_counter()
    kb = task.make(quick)
    statistics = kb.materialise()
    loaded = perf_counter() - began
    facts = sample(kb, SAMPLE)
    began = perf_counter()
    kb.explain(sample(kb, 100, seed=2))
    first = perf_counter() - began
    seconds, processor = [], []
    for _ in range(RUNS):
        began, begun = perf_counter(), process_time()
        explanation = kb.explain(facts)
        seconds.append(perf_counter() - began)
        processor.append(process_time() - begun)
    sizes = [len(proof) for proof in explanation.proofs]
    return {
        "task": task.name,
        "about": task.about,
        "facts": statistics.facts,
        "loaded": loaded,
        "first": first,
        "seconds": seconds,
        "cpu": processor,
        "asked": min(task.checked, len(explanation)),
        "checked": count_correct_proofs(kb, replace(explanation, answers=explanation.answers[: task.checked])),
        "mean_size": float(np.mean(sizes)),
        "largest": max(sizes),
        "highest": max(proof.height for proof in explanation.proofs),
    }


def sample(kb: everlog.KnowledgeBase, size: int, seed: int = 1) -> Facts:
    """Random derived facts, drawn uniformly from all predicates."""
    state, random = kb.state(), np.random.default_rng(seed)
    counts = {p: len(r) - len(state.explicit.relation(p) & r) for p, r in state.facts.items()}
    predicates = sorted(predicate for predicate, count in counts.items() if count)
    weights = np.array([counts[predicate] for predicate in predicates], np.float64)
    drawn = random.multinomial(size, weights / weights.sum())
    return {
        (predicate.name, predicate.arity): _draw_facts(kb, predicate, int(count), random)
        for predicate, count in zip(predicates, drawn, strict=True)
        if count
    }


def _draw_facts(kb: everlog.KnowledgeBase, predicate: Predicate, size: int, random: np.random.Generator) -> list[Any]:
    """Random derived facts of a predicate, distinct if there are enough. Large closures are not listed."""
    state = kb.state()
    relation, given = state.facts.relation(predicate), state.explicit.relation(predicate)
    if len(relation) > 1_000_000 and predicate.arity == 2:
        columns = _draw_pairs(relation, given, size, random)
    else:
        every = (relation - given).columns()
        places = random.choice(len(every[0]), min(size, len(every[0])), replace=False)
        columns = [column[places] for column in every]
    texts = [state.dictionary.decode(column).to_pylist() for column in columns]
    return [tuple(map(value_of, row)) for row in zip(*texts, strict=True)]


def _draw_pairs(relation: Any, given: Any, size: int, random: np.random.Generator) -> list[Any]:
    results: dict[int, None] = {}
    first, second = relation.terms(0), relation.terms(1)
    while len(results) < size:
        keys = random.choice(first, 4 * size) << 32 | random.choice(second, 4 * size)
        results.update(dict.fromkeys(keys[relation.contains(keys) & ~given.contains(keys)].tolist()))
    keys = np.array(list(results)[:size])
    return [keys >> 32, keys & ((1 << 32) - 1)]


def count_correct_proofs(kb: everlog.KnowledgeBase, explanation: Explanation) -> int:
    """The number of proofs, all of them correct: a wrong proof raises an error."""
    program = kb.program.program.written
    assert program is not None
    steps = (step for proof in explanation.proofs for step in proof.steps)
    rest = {(step.fact.predicate, _texts(step.fact)) for step in steps if step.kind == "given"}
    given = {fact for fact in rest if tuple(map(value_of, fact[1])) in kb[fact[0]].explicit}
    assert not any(rule.negative for rule in program.rules)
    return check_explanation(explanation.to_dict(), program, given, {})


def _texts(atom: Atom) -> tuple[str, ...]:
    return tuple(term.text for term in atom.terms)  # type: ignore[union-attr]


SAYS = "Median of five calls that explain all of them at once. The first call explains 100 others."


COLUMNS: Mapping[str, Callable[[Results], str]] = {
    "knowledge base": lambda each: f"{each['task']}: {each['about']}",
    "facts": lambda each: f"{each['facts']:,}",
    "load s": lambda each: f"{each['loaded']:.1f}",
    "first call s": lambda each: f"{each['first']:.2f}",
    "1,000 facts ms": lambda each: f"{median(each['seconds']) * 1000:.0f}",
    "cpu ms": lambda each: f"{median(each['cpu']) * 1000:.0f}",
    "checked": lambda each: f"{each['checked']:,} of {each['asked']:,}",
    "facts a proof": lambda each: f"{each['mean_size']:.1f}",
    "largest": lambda each: f"{each['largest']:,}",
    "highest": lambda each: f"{each['highest']:,}",
}


def targets(tasks: Iterable[Results]) -> list[Target]:
    by_name = {each["task"]: each for each in tasks}
    results = []
    for name in PROMISED:
        promise = f"1,000 random derived facts of {name} explained in under a second, every proof checks"
        if (each := by_name.get(name)) is None:
            results.append(Target("explain", promise))
            continue
        seconds, cpu = median(each["seconds"]), median(each["cpu"])
        shown = f"{seconds:.2f} s ({cpu:.2f} s cpu) of {each['facts']:,} facts, {each['checked']:,} checked"
        results.append(Target("explain", promise, shown, seconds < 1 and each["checked"] == each["asked"]))
    return results


BENCHMARK = Benchmark(measure, tuple(task.name for task in TASKS))
