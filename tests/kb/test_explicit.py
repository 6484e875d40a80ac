"""Changes of the explicit facts, one after the other."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.engine.factset import FactSet
from everlog.engine.relation import Relation
from everlog.kb.explicit import Queued, applied
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import ExplicitChange

Facts = set[tuple[Predicate, int]]
PREDICATES = [Predicate(name, 1) for name in "pqr"]
numbers = st.sets(st.integers(0, 5), min_size=1)
queues = st.lists(st.tuples(st.booleans(), st.sampled_from(PREDICATES), numbers, st.integers(0, 2)), max_size=8)


def relation(values: set[int]) -> Relation:
    return Relation.from_columns([sorted(values)], 10)


def flat(facts: FactSet) -> Facts:
    return {(predicate, value) for predicate, held in facts.items() for value in held.columns()[0].tolist()}


@settings(max_examples=150)
@given(st.data(), st.dictionaries(st.sampled_from(PREDICATES), numbers), queues)
def test_queued_changes(
    data: st.DataObject, before: dict[Predicate, set[int]], queue: list[tuple[bool, Predicate, set[int], int]]
) -> None:
    asked = [Queued(insert, p, relation(values), 0 if insert else unknown) for insert, p, values, unknown in queue]
    old = FactSet({p: relation(values) for p, values in before.items()})
    cut = data.draw(st.integers(0, len(asked)))
    done = applied(asked[cut:], applied(asked[:cut], ExplicitChange.of(old), 10), 10)
    expected, idle = flat(old), 0
    for insert, predicate, values, unknown in queue:
        facts = {(predicate, value) for value in values}
        if insert:
            expected |= facts
        else:
            idle += len(facts - expected) + unknown
            expected -= facts
    assert flat(done.explicit) == expected
    assert flat(done.inserted) == expected - flat(old)
    assert flat(done.deleted) == flat(old) - expected
    assert done.idle == idle
