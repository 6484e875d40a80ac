"""A profile: figures of reasoning, shown as text or as a page."""

from __future__ import annotations

from pathlib import Path

from everlog.profiling.figures import Figures
from everlog.profiling.report import body, page
from everlog.profiling.tables import text_lines


class Profile(Figures):
    """A profile of reasoning. ``str`` of it is a few tables; :meth:`write` makes a page with plots.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) . edge(b, c) .", maintain="none")
    >>> profile = everlog.Profile()
    >>> _ = kb.materialise(profile=profile)
    >>> [(rule.rule, rule.instances) for rule in profile.rules]
    [('path(?x, ?y) :- edge(?x, ?y) .', 2)]
    """

    def write(self, path: str | Path, title: str = "Everlog profile") -> None:
        """Write a self-contained page with tables and plots."""
        Path(path).write_text(page(self, title), encoding="utf-8")

    def __str__(self) -> str:
        return "\n".join(text_lines(self))

    def _repr_html_(self) -> str:
        return body(self)
