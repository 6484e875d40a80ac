"""Proving facts by one instance after the other: cursors find each instance once, and the first one is enough."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from everlog.engine.factset import NONE, FactSet
from everlog.engine.match import Engine, Proofs
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Rule
from tests.engine.test_match import Problem, encoded, problems
from tests.oracle import naive
from tests.oracle.naive import Fact

EDGE, REACH = Predicate("edge", 2), Predicate("reach", 1)


def with_bodies(problem: Problem) -> list[Rule]:
    """The rules of a problem that have body atoms to be proved."""
    return [rule for rule in problem[0].program.rules if rule.positive]


def bodies_of(problem: Problem, index: int, substitution: naive.Substitution) -> set[Fact]:
    """The positive body atoms of an instance."""
    rule = naive._without_wildcards(with_bodies(problem)[index])
    return {(atom.predicate, naive._ground(atom, dict(substitution))) for atom in rule.positive}


@given(problems(max_conditions=0))
def test_cursors_find_each_instance_once(problem: Problem) -> None:
    case, setting, (pos, neg, _), (engine_pos, engine_neg, _) = problem
    rules = with_bodies(problem)
    instances = naive.instances(rules, pos, neg)
    wanted = encoded(setting, sorted(naive.heads(rules, pos, neg)))
    engine = setting.engine()
    proofs = engine.prove(RuleSet(rules), engine_pos, engine_neg, case.predicates)
    found: FactSet = proofs.bodies(wanted, NONE)
    while todo := proofs.unfinished(wanted, NONE, NONE):
        found |= proofs.bodies(todo, NONE)
    assert setting.decoded(found) == {fact for each in instances for fact in bodies_of(problem, *each)}
    assert Counter(engine.work.by_rule) == Counter(rules[index] for index, _ in instances)


@given(st.data(), problems(max_conditions=0))
def test_instances_with_excluded_facts_are_left_out(data: st.DataObject, problem: Problem) -> None:
    """Facts are excluded after some instances have been found."""
    case, setting, (pos, neg, _), (engine_pos, engine_neg, _) = problem
    rules = with_bodies(problem)
    heads = sorted(naive.heads(rules, pos, neg))
    wanted = encoded(setting, heads)
    engine = setting.engine()
    proofs = engine.prove(RuleSet(rules), engine_pos, engine_neg, case.predicates)
    proofs.bodies(wanted, NONE)
    before = engine.work.instances.total()
    some = sorted(naive.flat(pos))
    gone = set(data.draw(st.lists(st.sampled_from(some), max_size=3)) if some else [])
    without = encoded(setting, sorted(gone))
    found: FactSet = NONE
    while todo := proofs.unfinished(wanted, NONE, NONE):
        found |= proofs.bodies(todo, without)
    kept = [each for each in naive.instances(rules, pos, neg) if not bodies_of(problem, *each) & gone]
    assert not setting.decoded(found) & gone
    assert len(kept) <= engine.work.instances.total() <= before + len(kept)


@given(st.data(), problems(max_conditions=0))
def test_one_instance_is_enough(data: st.DataObject, problem: Problem) -> None:
    case, setting, (pos, neg, _), (engine_pos, engine_neg, _) = problem
    rules = case.program.rules
    heads = naive.heads(rules, pos, neg)
    others = [fact for fact in naive.flat(pos) if fact not in heads]
    engine = setting.engine()
    proofs = engine.prove(RuleSet(rules), engine_pos, engine_neg)
    proved = proofs.facts(encoded(setting, sorted([*heads, *others])))
    assert setting.decoded(proved) == set(heads)
    if all(relation.layout.is_packed for facts in (engine_pos, engine_neg, proved) for relation in facts.values()):
        assert engine.work.instances.total() == len(heads)


def reaching(size: int) -> tuple[Engine, Proofs, FactSet]:
    """Proofs of reach(0), which has an instance for each edge from another node, and this fact."""
    rules = RuleSet(parse_program("reach(?y) :- reach(?x), edge(?x, ?y) .").rules)
    nodes = list(range(1, size + 1))
    facts = FactSet({EDGE: Relation.from_columns([nodes, [0] * size]), REACH: Relation.from_columns([[0, *nodes]])})
    engine = Engine(size + 1, {})
    return engine, engine.prove(rules, facts, facts, [REACH]), FactSet({REACH: Relation.from_columns([[0]])})


def test_as_many_instances_as_before_are_found_next() -> None:
    engine, proofs, wanted = reaching(20)
    considered: list[int] = []
    while todo := proofs.unfinished(wanted, NONE, wanted if not considered else NONE):
        before = engine.work.instances.total()
        proofs.bodies(todo, NONE)
        considered.append(engine.work.instances.total() - before)
    assert considered == [1, 1, 2, 4, 8, 4]


def test_only_facts_that_are_needed_are_unfinished() -> None:
    _, proofs, wanted = reaching(20)
    assert proofs.unfinished(wanted, NONE, NONE).count == 0, "nothing was begun"
    bodies = proofs.bodies(wanted, NONE)
    assert proofs.unfinished(wanted, NONE, NONE) == wanted
    assert proofs.unfinished(bodies, NONE, NONE).count == 0, "the body does not need the head"
    assert proofs.unfinished(wanted, NONE, bodies) == bodies, "the newest first"
    assert proofs.unfinished(wanted, bodies, bodies) == wanted, "proved facts are not needed"
    assert proofs.unfinished(wanted, wanted, NONE).count == 0
