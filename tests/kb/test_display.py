"""Displays in notebooks: tables with the first rows and all counts, escaped, without starting reasoning."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import everlog
from everlog import KnowledgeBase
from everlog.lang.html import SHOWN, html_table

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . good(?x) :- path(?x, _) ."


class Cells(HTMLParser):
    """The rows of all tables of a page; tags must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def shown(found: object) -> tuple[str, list[list[str]]]:
    """The text that is shown, and the rows of its table."""
    text: str = found._repr_html_()  # type: ignore[attr-defined]
    return text, Cells(text).rows


def knowledge_base() -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(RULES)
    kb.insert("edge", [(i, i + 1) for i in range(40)])
    return kb


def test_a_knowledge_base_that_is_not_materialised_is_not_reasoned_about() -> None:
    kb = knowledge_base()
    assert "call materialise()" in shown(kb)[0]
    assert kb.pending


def test_a_knowledge_base() -> None:
    kb = knowledge_base()
    kb.materialise()
    text, rows = shown(kb)
    assert "3 rules, 3 predicates, 900 facts" in text
    assert rows == [
        ["predicate", "arguments", "facts", "explicit"],
        ["path", "2", "820", "0"],
        ["edge", "2", "40", "40"],
        ["good", "1", "40", "0"],
    ]


def test_rows() -> None:
    kb = knowledge_base()
    text, rows = shown(kb["path"])
    assert rows[:2] == [["c0", "c1"], ["0", "1"]]
    assert len(rows) == 1 + SHOWN
    assert "820 rows" in text
    assert "800 more rows" in text
    assert shown(kb.query("path(38, ?x)"))[1] == [["x"], ["39"], ["40"]]
    assert shown(kb.query("path(0, 40)"))[0] == "<p>true</p>"
    assert shown(kb.query("path(40, 0)"))[0] == "<p>false</p>"
    assert shown(kb.query("path(40, ?x)"))[1] == [["x"]]
    assert shown(kb["edge"].explicit)[1][1] == ["0", "1"]


def test_answers_of_sparql() -> None:
    kb = knowledge_base()
    found = kb.sparql("SELECT ?y ?z { 38 everlog:edge ?y OPTIONAL { ?y everlog:none ?z } }")
    assert shown(found)[1] == [["y", "z"], ["39", ""]]


def test_changes() -> None:
    kb = knowledge_base()
    text, rows = shown(kb.update(insert={"edge": [(40, 41)]}, delete={"edge": [(0, 1)]}))
    assert rows[0] == ["predicate", "inserted", "deleted", "explicit inserted", "explicit deleted"]
    assert ["edge/2", "+1", "-1", "+1", "-1"] in rows
    assert ["path/2", "+40", "-40", "+0", "-0"] in rows
    assert re.search(r"\+42 -42 facts by \w+ in", text)


def test_statistics() -> None:
    kb = knowledge_base()
    text, rows = shown(kb.materialise())
    assert "900 facts: 40 explicit, 860 derived" in text
    assert rows[0][:2] == ["stratum", "rules"]
    assert len(rows) == 3
    change = kb.update(delete={"edge": [(10, 11)]}, algorithm="dred")
    text, rows = shown(change.stats)
    assert text.startswith("<p>dred")
    assert rows[0] == ["", "number"]


def test_html_in_terms_is_text() -> None:
    kb = everlog.KnowledgeBase('p("<b>bold</b> & more", <http://e.org/a>) .')
    text, rows = shown(kb["p"])
    assert "<b>" not in text
    assert rows[1] == ["<b>bold</b> & more", "<http://e.org/a>"]
    assert "<i>" not in html_table(["<i>"], [], caption="<i>")
    assert len(html_table(["x"], [["y" * 10_000]])) < 1000


def test_a_knowledge_base_says_what_is_in_it(tmp_path: Path) -> None:
    kb = KnowledgeBase(
        "@prefix ex: <http://e.org/> . ex:p(?x) :- q(?x) . q(1) . q(2) . " + "".join(f"r{i}(a) ." for i in range(9))
    )
    assert repr(kb) == "<KnowledgeBase: 1 rule, 11 predicates; changes wait to be reasoned about>"
    kb.materialise()
    shown = "ex:p/1 2, q/1 2, r0/1 1, r1/1 1, r2/1 1, ..."
    assert repr(kb) == f"<KnowledgeBase: 1 rule, 11 predicates, 13 facts: {shown}>"
    kb.save(tmp_path / "kb")
    assert repr(kb).endswith(f"; based on version 0 of {tmp_path / 'kb'}>")
    assert repr(KnowledgeBase()) == "<KnowledgeBase: 0 rules, 0 predicates; changes wait to be reasoned about>"
