"""Stores of knowledge bases with representatives: every version has the facts that the axioms of equality give."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import everlog
from everlog.reasoning.equality.expansion import expanded, expanded_count
from everlog.store import Store
from everlog.store import states as snapshots
from tests.kb.test_store_updates import check_store, check_versions, everything, meanwhile
from tests.reasoning.equality.test_representatives import (
    OWL,
    Rows,
    algorithms,
    assert_same,
    facts,
    in_both,
    programs,
    rows,
    stratifiable,
)

FUNCTIONAL = "owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) .\n"


@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_version_is_that_of_the_rules(
    tmp_path_factory: pytest.TempPathFactory, eager: None, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    monkeypatch.setattr(snapshots, "WHOLE_SHARE", data.draw(st.sampled_from([0, 1 << 20])))
    text = data.draw(programs.filter(stratifiable))
    kb, plain = in_both(text)
    live, _ = in_both(text)
    first: Rows = data.draw(rows(10))
    for each in (kb, live, plain):
        for predicate, given_rows in first.items():
            each.insert(predicate, given_rows)
    path = tmp_path_factory.mktemp("store") / "kb"
    kb.save(path)
    seen = {0: everything(kb.state())}
    for _ in range(data.draw(st.integers(1, 4))):
        insert, delete, algorithm = data.draw(rows(4)), data.draw(rows(4)), data.draw(algorithms)
        report = kb.update(insert=insert, delete=delete, algorithm=algorithm)  # type: ignore[arg-type]
        expected = live.update(insert=insert, delete=delete)
        plain.update(insert=insert, delete=delete, algorithm="rematerialise")
        for part in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
            ours, theirs = getattr(report, part), getattr(expected, part)
            assert {p: ours[p].rows() for p in ours} == {p: theirs[p].rows() for p in theirs}
        before, version = Store.open(path).version, kb.save()
        assert (version == before) == (not report)
        if report:
            seen[version] = everything(kb.state())
        kb = meanwhile(data, kb, path, seen)
        assert kb.equality == "representatives"
        check_store(path)
        assert_same(kb, plain)
        assert facts(kb) == facts(live)
    check_versions(path, seen)


def mothers(count: int) -> Rows:
    return {"p": [(f"child{i}", f"{name}{i}") for i in range(count) for name in ("eve", "eva")]}


def test_reading_computes_nothing_and_updates_stay_incremental(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The first update of an opened store computes the classes again; later updates do not."""
    kb = everlog.KnowledgeBase(OWL + FUNCTIONAL + "r(?x, ?z) :- p(?x, ?y), q(?y, ?z) .", equality="representatives")
    kb.update(insert={**mothers(200), "q": [("eva7", "here")]})
    kb.save(tmp_path / "kb")
    caplog.set_level(logging.INFO, logger="everlog.kb.reasoner")
    kb = everlog.open(tmp_path / "kb")
    assert kb["r"].rows() == [("child7", "here")]
    assert kb.query("q(?who, here)").rows() == [("eva7",), ("eve7",)]
    assert kb.sparql("ASK { 'eva7' owl:sameAs 'eve7' }")
    assert not caplog.messages
    for i, algorithm in enumerate(("dredc", "auto", "fbf")):
        kb.update(delete={"p": [(f"child{i}", f"eve{i}")]}, algorithm=algorithm)  # type: ignore[arg-type]
        assert kb.save() == i + 1
        assert [text for text in caplog.messages if "representatives" in text] == caplog.messages[:1]
        assert len(kb["owl:sameAs"]) == 4 * (199 - i) + i + 1
    assert len(everlog.open(tmp_path / "kb", 1)["owl:sameAs"]) == 4 * 199 + 1
    assert Store.open(tmp_path / "kb").changes(2, 3).num_rows == 1 + 3
    check_store(tmp_path / "kb")


def test_saving_elsewhere_and_over_others(tmp_path: Path) -> None:
    merged, plain = in_both(FUNCTIONAL)
    for kb in (merged, plain):
        kb.update(insert={"p": [("u", "v"), ("u", "w"), ("w", "x")]})
    plain.save(tmp_path / "one")
    merged.save(tmp_path / "other")
    opened = everlog.open(tmp_path / "other")
    opened.insert("p", [("u", "z")])
    assert opened.save(tmp_path / "one", overwrite=True) == 1
    assert everlog.open(tmp_path / "other").equality == "representatives"
    assert everlog.open(tmp_path / "one", 0).equality == "off"
    plain.update(insert={"p": [("u", "z")]})
    assert_same(everlog.open(tmp_path / "one"), plain)
    check_store(tmp_path / "one")


def test_a_store_has_the_equality_it_was_made_with(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(OWL + FUNCTIONAL + "p(u, v) . p(u, w) .", equality="representatives")
    kb.save(tmp_path / "kb")
    everlog.KnowledgeBase("p(a) .").save(tmp_path / "plain")
    for path, asked in (("kb", "off"), ("kb", "rules"), ("plain", "representatives")):
        with pytest.raises(everlog.StoreError) as caught:
            everlog.open(tmp_path / path, equality=asked)
        assert caught.value.diagnostics[0].code == "other-equality"
    assert everlog.open(tmp_path / "plain", equality="rules")["p"].rows() == [("a",)]
    opened = everlog.open(tmp_path / "kb", equality="representatives", modules=True, stratification="single")
    opened.update(delete={"p": [("u", "w")]}, algorithm="dredc")
    opened.save()
    assert facts(everlog.open(tmp_path / "kb")) == {
        "p/2": {("u", "v")},
        "<http://www.w3.org/2002/07/owl#sameAs>/2": {("v", "v")},
    }


def test_a_limit_is_on_the_facts_that_are_seen(tmp_path: Path) -> None:
    rows_of_one: Rows = {"p": [("u", f"v{i}") for i in range(100)]}
    kb = everlog.KnowledgeBase(OWL + FUNCTIONAL, equality="representatives", max_facts=10_050)
    with pytest.raises(everlog.LimitError):
        kb.update(insert=rows_of_one)
    kb.max_facts = 10_100
    kb.update(insert=rows_of_one)
    kb.save(tmp_path / "kb")
    kb = everlog.open(tmp_path / "kb", max_facts=10_100)
    with pytest.raises(everlog.LimitError):
        kb.update(insert={"p": [("u", "w")]})
    assert kb.statistics.facts == 10_100
    kb.max_facts = None
    assert sum(map(len, kb.update(insert={"p": [("u", "w")]}).inserted.values())) == 202


@pytest.mark.long
@pytest.mark.parametrize("which", ["live", "opened"])
def test_layouts_that_grow(tmp_path: Path, which: str) -> None:
    """New terms exceed the ids that three columns of a packed key can hold, while classes exist."""
    kb = everlog.KnowledgeBase(OWL + FUNCTIONAL + "c(?x) :- t(?x, _, _) .", equality="representatives")
    kb.update(insert={"p": [("u", "v"), ("u", "w")], "t": [("v", "w", "z")]})
    if which == "opened":
        kb.save(tmp_path / "kb")
        kb = everlog.open(tmp_path / "kb")
    assert len(kb["t"]) == 4
    many: Any = np.arange(1 << 21)
    kb.update(insert={"a": {"x": many}})
    assert len(kb["t"]) == 4
    kb.update(delete={"p": [("u", "v")]}, insert={"t": [("w", "x", 5)]})
    assert kb["t"].rows() == [("v", "w", "z"), ("w", "x", 5)]


def test_counting_what_is_not_listed() -> None:
    kb = everlog.KnowledgeBase(OWL + FUNCTIONAL, equality="representatives")
    kb.update(insert={"p": [("u", "v"), ("u", "w"), ("x", "y")], "t": [("v", "w", "v"), ("x", "y", "z")]})
    partition, kept = kb._reasoner.merged.partition, kb.facts_with_hidden()
    assert expanded_count(kept, partition) == expanded(kept, partition).count == kb.statistics.facts == 17
