"""The dictionary against a Python dict."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.engine import dictionary as module
from everlog.engine.dictionary import Constants, Dictionary, Texts
from everlog.engine.hashing import hash_text
from everlog.lang.errors import LimitError

texts = st.sampled_from(["", "a", "b", "ab", "ünï", "日本", "\x00", "a\x00", "a" * 40, "😀"]) | st.text(max_size=4)
batches = st.lists(st.lists(texts, max_size=12), max_size=4)


def is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


class Model:
    """A dictionary beside the dict it stands for."""

    def __init__(self, base: list[str], salt: int = 0) -> None:
        base = sorted(dict.fromkeys(base), key=lambda text: hash_text(text, salt=salt))
        self.found = (
            Dictionary(Texts.of(pa.array(base, pa.large_string()), salt), salt) if base else Dictionary(salt=salt)
        )
        self.ids = {text: number for number, text in enumerate(base)}

    def encode(self, batch: list[str], kind: pa.DataType) -> None:
        for text in batch:
            self.ids.setdefault(text, len(self.ids))
        padded = pa.array(["before", *batch, "after"], kind).slice(1, len(batch))
        assert self.found.encode(padded).tolist() == [self.ids[text] for text in batch]

    def check(self, asked: list[str]) -> None:
        expected = [self.ids.get(text, -1) for text in asked]
        assert [self.found.find(text) for text in asked] == expected
        assert self.found.lookup(pa.array(asked, pa.string())).tolist() == expected
        assert len(self.found) == len(self.ids)
        backwards = np.arange(len(self.ids))[::-1]
        assert self.found.decode(backwards).to_pylist() == list(self.ids)[::-1]
        assert self.found.hashes().tolist() == [hash_text(text, salt=self.found.salt) for text in self.ids]


@given(
    st.lists(texts.filter(is_unicode), max_size=10),
    batches.map(lambda found: [[t for t in batch if is_unicode(t)] for batch in found]),
    st.lists(texts.filter(is_unicode)),
    st.sampled_from([pa.string(), pa.large_string()]),
    st.sampled_from([0, 7]),
)
def test_equals_a_dict(base: list[str], found: list[list[str]], asked: list[str], kind: pa.DataType, salt: int) -> None:
    model = Model(base, salt)
    model.check(asked)
    for batch in found:
        model.encode(batch, kind)
        model.check([*asked, *batch])


@settings(max_examples=30)
@given(st.lists(texts.filter(is_unicode), max_size=10), st.lists(texts.filter(is_unicode), max_size=10))
def test_ranking_orders_by_hash(base: list[str], added: list[str]) -> None:
    model = Model(base)
    model.encode(added, pa.string())
    ranked, ids = model.found.ranked()
    assert len(ranked.base) == len(ranked) == len(model.ids)
    assert (ranked.hashes()[:-1] < ranked.hashes()[1:]).all()
    assert [ranked.find(text) for text in model.ids] == ids.tolist()
    assert ranked.decode(ids).to_pylist() == list(model.ids)
    assert ranked.ranked()[0] is ranked


def test_many_texts_in_several_batches() -> None:
    """Past every buffer's and table's first size."""
    found = Dictionary()
    for batch in range(4):
        names = [f"{'x' * (i % 50)}{i}" for i in range(batch * 700, batch * 700 + 1000)]
        assert found.encode(pa.array(names)).tolist() == list(range(batch * 700, batch * 700 + 1000))
    assert len(found) == 3100
    assert found.find("x" * 49 + "49") == 49
    ranked, _ = found.ranked()
    again = [f"{'x' * (i % 50)}{i}" for i in range(0, 3200, 3)]
    assert ranked.lookup(pa.array(again)).tolist() == [ranked.find(text) for text in again]
    assert ranked.decode(ranked.lookup(pa.array(again[:1000]))).to_pylist() == again[:1000]


def test_texts_with_equal_hashes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bits of hash for ninety texts, in the base and after it."""
    monkeypatch.setattr(module, "hash_texts", lambda array, salt=0: np.array([len(t) % 4 for t in array.to_pylist()]))
    monkeypatch.setattr(module, "hash_text", lambda text, salt=0: len(text) % 4)
    first, second = [f"{'a' * (i % 5)}{i}" for i in range(30)], [f"{'b' * (i % 5)}{i}" for i in range(60)]
    found = Dictionary()
    assert found.encode(pa.array([*first, *first])).tolist() == [*range(30), *range(30)]
    ranked, ids = found.ranked()
    assert ranked.encode(pa.array(first)).tolist() == ids.tolist()
    every = [*first, *dict.fromkeys(t for t in second if t not in first)]
    numbers = ranked.encode(pa.array(every)).tolist()
    assert sorted(numbers) == list(range(len(every)))
    assert ranked.decode(np.array(numbers)).to_pylist() == every
    assert [ranked.find(text) for text in every] == numbers
    assert ranked.lookup(pa.array(every)).tolist() == numbers


def test_an_older_decoding_survives_growth() -> None:
    found = Dictionary()
    ids = found.encode(pa.array(["a", "b"]))
    decoded = found.decode(ids)
    found.encode(pa.array([f"{i}" * 100 for i in range(1000)]))
    assert decoded.to_pylist() == ["a", "b"]


def test_too_many_terms_and_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Dictionary()
    found.encode(pa.array(["a", "b"]))
    monkeypatch.setattr(module, "MAX_TERMS", 4)
    with pytest.raises(LimitError, match="more than 4 different terms"):
        found.encode(pa.array(["c", "a", "d", "e"]))
    assert (len(found), found.find("a"), found.find("c"), found.find("e")) == (2, 0, -1, -1)
    assert found.encode(pa.array(["d", "b", "c"])).tolist() == [2, 1, 3]
    with pytest.raises(LimitError):
        found.encode(pa.array(["e"]))
    assert found.encode(pa.array(["a", "d", "c"])).tolist() == [0, 2, 3]
    with pytest.raises(LimitError):
        Dictionary(Texts.of(pa.array(["1", "2", "3", "4", "5"])))


def test_a_constant_is_looked_for_again_until_it_is_there() -> None:
    found = Dictionary()
    constants = Constants(found)
    assert constants['"a"'] == -1
    found.encode(pa.array(['"b"', '"a"']))
    assert constants['"a"'] == 1
    assert constants.get('"nowhere"', -1) == -1
