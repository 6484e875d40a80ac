"""Conversion between dense ids and the ids of a store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from everlog import KnowledgeBase, StoreError
from everlog.engine.factset import FactSet
from everlog.engine.hashing import hash_text
from everlog.engine.state import State
from everlog.lang.syntax import Predicate
from everlog.store import codec as lake
from everlog.store.codec import dictionary_of, fact_batches, facts_of, state_of, term_batches
from everlog.store.loading import load
from everlog.store.store import Store


def state() -> State:
    kb = KnowledgeBase("r(?x, ?y, ?z) :- p(?x, ?y), p(?y, ?z) . yes() :- p(_, _) .")
    kb.insert("p", [(i, (i * 7 + 1) % 50) for i in range(50)])
    kb.insert("r", [("a", "b", "c")])
    kb.delete("p", [(3, 22)])
    return kb.state().ranked()


def tables(found: State) -> tuple[pa.Table, list[pa.RecordBatch]]:
    """The tables of a store: terms sorted by id, facts by predicate, with nulls beyond the arity."""
    predicates = list(found.facts)
    terms = pa.Table.from_batches(list(term_batches(found.dictionary, predicates))).sort_by("id")
    batches = list(fact_batches(found))
    schema = pa.unify_schemas([batch.schema for batch in batches])
    rows = pa.concat_tables([pa.Table.from_batches([b]) for b in batches], promote_options="default").cast(schema)
    return terms, rows.to_batches()


def decoded(facts: FactSet, found: State) -> dict[Predicate, list[tuple[str, ...]]]:
    return {
        predicate: sorted(zip(*(found.dictionary.decode(c).to_pylist() for c in relation.columns()), strict=True))
        for predicate, relation in facts.items()
    }


def test_facts_survive_the_way_to_rows_and_back() -> None:
    found = state()
    terms, batches = tables(found)
    dictionary = dictionary_of(terms)
    again = state_of(batches, dictionary, counted=True)
    assert decoded(again.facts, again) == decoded(found.facts, found)
    assert decoded(again.explicit, again) == decoded(found.explicit, found)


def test_rows_are_sorted_and_named_by_hash() -> None:
    found = state()
    _, batches = tables(found)
    rows = pa.Table.from_batches(batches)
    numbers = rows.column("predicate").to_pylist()
    assert numbers == sorted(numbers)
    assert set(numbers) == {hash_text(str(p)) for p in found.facts}
    for number in set(numbers):
        mine = [row for row in rows.to_pylist() if row["predicate"] == number]
        keys = [tuple(-1 if row[c] is None else row[c] for c in ("c0", "c1", "c2")) for row in mine]
        assert keys == sorted(keys)
        assert len(set(keys)) == len(keys)
    assert sum(rows.column("explicit").to_pylist()) == found.explicit.count
    assert set(rows.column("holds").to_pylist()) == {1}


def test_rows_in_any_order_and_repeated() -> None:
    found = state()
    terms, batches = tables(found)
    dictionary = dictionary_of(terms)
    rows = pa.Table.from_batches(batches)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(rows.num_rows), 2))
    shuffled = facts_of(rows.take(order).to_batches(), dictionary)
    assert decoded(shuffled, State(dictionary, FactSet(), FactSet())) == decoded(found.facts, found)


def test_no_rows() -> None:
    terms, batches = tables(state())
    dictionary = dictionary_of(terms)
    assert facts_of([], dictionary).count == 0
    assert facts_of([batches[0].slice(0, 0)], dictionary).count == 0
    none_explicit = batches[0].set_column(
        batches[0].schema.get_field_index("explicit"), "explicit", pa.array(np.zeros(len(batches[0]), np.int8))
    )
    assert state_of([none_explicit], dictionary, counted=False).explicit.count == 0


def test_a_term_that_the_dictionary_does_not_have() -> None:
    terms, batches = tables(state())
    missing = terms.filter(pa.array([text != "7" for text in terms.column("text").to_pylist()]))
    with pytest.raises(StoreError, match="everlog verify"):
        facts_of(batches, dictionary_of(missing))
    unnamed = terms.filter(pa.array([text != "p/2" for text in terms.column("text").to_pylist()]))
    with pytest.raises(StoreError, match="unknown-predicate-id"):
        facts_of(batches, dictionary_of(unnamed))


def test_many_predicates_share_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small predicates are in common batches, and a large one is in several."""
    kb = KnowledgeBase("r(?x, ?y, ?z) :- p7(?x, ?y), p8(?y, ?z) . some(?x) :- p9(?x, _) .")
    for number in range(300):
        kb.insert(f"p{number}", [(i, number + i) for i in range(1 + number % 3)])
    kb.insert("some", [(number,) for number in range(100)])
    found = kb.state().ranked()
    (whole,) = fact_batches(found)
    assert whole.num_rows == found.facts.count
    monkeypatch.setattr(lake, "BLOCK_ROWS", 30)
    parts = list(fact_batches(found))
    assert {part.num_rows for part in parts[:-1]} == {30}
    joined = pa.concat_tables([pa.Table.from_batches([part]) for part in parts], promote_options="default")
    assert joined.select(whole.schema.names).to_pylist() == whole.to_pylist()


def test_terms_are_written_once() -> None:
    found = state()
    predicates = [*found.facts, Predicate("empty", 1)]
    terms = pa.Table.from_batches(list(term_batches(found.dictionary, predicates)))
    texts = terms.column("text").to_pylist()
    assert len(set(texts)) == len(texts) == len(found.dictionary) + len(predicates)
    assert terms.column("id").to_pylist() == [hash_text(text) for text in texts]


def test_loading_an_old_version_leaves_no_snapshot_of_it(tmp_path: Path) -> None:
    kb = KnowledgeBase("p(a) .")
    kb.save(tmp_path / "kb")
    kb.insert("p", [("b",)])
    kb.save(tmp_path / "kb", overwrite=True)
    store = Store.open(tmp_path / "kb")
    assert load(store, 0).state.facts.count == 1
    assert store.snapshot(0) is None
    assert store.snapshot(1) is not None
    assert load(store).state.facts.count == 2
