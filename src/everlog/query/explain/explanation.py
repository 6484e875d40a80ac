"""Explanations in all their forms: text, JSON, a graph, HTML."""

from __future__ import annotations

import json
from typing import Any

from everlog.query.explain.content import Content
from everlog.query.explain.data import data
from everlog.query.explain.dot import dot
from everlog.query.explain.html import fragment, page
from everlog.query.explain.text import text


class Explanation(Content):
    """The answers, one for each fact, and the rules that they refer to.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x), ~r(?x) . q(a) .")
    >>> print(kb.explain("p(a)"))
    p(a)       rule 1: ?x = a
    ├─ q(a)    given
    └─ ~r(a)   does not hold
    <BLANKLINE>
    rule 1   p(?x) :- q(?x), ~r(?x) .   line 1
    """

    def __str__(self) -> str:
        return text(self)

    def to_text(self, depth: int | None = None) -> str:
        """The explanation as text down to some level of its proofs, by default all; ``str`` ends at level 40.

        >>> import everlog
        >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(?x) :- r(?x) . r(a) .")
        >>> print(kb.explain("p(a)").to_text(2).splitlines()[1])
        └─ q(a)   rule 2: ?x = a ...
        """
        return text(self, depth)

    def __repr__(self) -> str:
        proved = sum(answer.holds for answer in self.answers)
        return f"<Explanation of {self.query}: {proved:,} of {len(self):,} hold, {len(self.proofs):,} proofs>"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data for JSON; see ``docs/explain.md``."""
        return data(self)

    def to_json(self) -> str:
        """The explanation as a text of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def to_dot(self) -> str:
        """The proofs as one graph for Graphviz."""
        return dot(self)

    def to_html(self) -> str:
        """A page of HTML, in which the steps of proofs fold."""
        return page(self)

    def _repr_html_(self) -> str:
        return fragment(self)
