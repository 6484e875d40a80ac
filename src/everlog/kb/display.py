"""How notebooks show knowledge bases, rows, changes and statistics: as tables.

Each shows its first rows only and says how many there are. Nothing is reasoned for the sake of a display.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from everlog.lang.printer import cell_text, print_name
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from everlog.kb.change import Change
    from everlog.kb.knowledge_base import KnowledgeBase
    from everlog.query.answers import Rows
    from everlog.query.sparql.results import Solutions
    from everlog.reasoning.maintenance import UpdateStatistics
    from everlog.reasoning.statistics import Statistics

SHOWN = 20
"""How many rows a table has."""

LISTED = 5
"""How many relations a line names."""

WIDEST = 200
"""Cells are cut at so many characters."""


def html_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    total: int | None = None,
    *,
    caption: str = "",
    numbers: Collection[int] = (),
) -> str:
    """A table; ``total`` is how many rows there are in all, ``numbers`` the columns to be aligned to the right.

    >>> html_table(["x"], [["a<b"]], 3)
    '<table><thead><tr><th style="text-align:left">x</th></tr></thead><tbody><tr><td style="text-align:left">a&lt;b\
</td></tr></tbody></table><p>2 more rows</p>'
    """
    sides = ["right" if number in numbers else "left" for number in range(len(columns))]

    def line(tag: str, cells: Sequence[object]) -> str:
        made = (
            f'<{tag} style="text-align:{side}">{escape(_cut(str(cell)))}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = f"<p>{escape(caption)}</p>" if caption else ""
    left_out = 0 if total is None else total - len(rows)
    more = f"<p>{left_out:,} more row{'s' if left_out > 1 else ''}</p>" if left_out > 0 else ""
    body = "".join(line("td", row) for row in rows)
    return f"{head}<table><thead>{line('th', columns)}</thead><tbody>{body}</tbody></table>{more}"


def rows_html(rows: Rows | Solutions) -> str:
    """Rows of terms: the first of them. What is not bound is empty."""
    total = len(rows)
    caption = _counted(total, "row")
    if not rows.columns:
        return f"<p>{'true' if total else 'false'}</p>"
    texts = rows.texts(0, SHOWN)
    cells = ([_cell(text) for text in column.to_pylist()] for column in texts)
    shown = list(zip(*cells, strict=True))
    return html_table(rows.columns, shown, total, caption=caption)


def knowledge_base_text(kb: KnowledgeBase) -> str:
    """A knowledge base on one line: rules, predicates, the largest relations if their sizes are known, its store.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(1) . q(2) .")
    >>> print(knowledge_base_text(kb))
    <KnowledgeBase: 1 rule, 2 predicates; changes wait to be reasoned about>
    >>> stats = kb.materialise()
    >>> print(knowledge_base_text(kb))
    <KnowledgeBase: 1 rule, 2 predicates, 4 facts: p/1 2, q/1 2>
    """
    said = _rules_and_predicates(kb)
    if kb.pending:
        said += "; changes wait to be reasoned about"
    else:
        counted = _sizes(kb)
        shown = ", ".join(f"{name}/{arity} {facts:,}" for name, arity, facts, _ in counted[:LISTED])
        said += f", {_counted(sum(row[2] for row in counted), 'fact')}{': ' if shown else ''}{shown}"
        said += ", ..." if len(counted) > LISTED else ""
    if kb.saved is not None:
        said += f"; based on version {kb.saved.version} of {kb.saved.path}"
    return f"<KnowledgeBase: {said}>"


def knowledge_base_html(kb: KnowledgeBase) -> str:
    """The predicates of a knowledge base with the numbers of their facts, if these are known already."""
    caption = _rules_and_predicates(kb)
    if kb.pending:
        return f"<p>{caption}; changes wait to be reasoned about: call materialise()</p>"
    counted = _sizes(kb)
    rows = [(name, arity, f"{facts:,}", f"{explicit:,}") for name, arity, facts, explicit in counted[:SHOWN]]
    caption += f", {_counted(sum(row[2] for row in counted), 'fact')}"
    columns = ("predicate", "arguments", "facts", "explicit")
    return html_table(columns, rows, len(counted), caption=caption, numbers=(1, 2, 3))


def _rules_and_predicates(kb: KnowledgeBase) -> str:
    return f"{_counted(len(kb.program.program.rules), 'rule')}, {_counted(len(kb.predicates), 'predicate')}"


def _sizes(kb: KnowledgeBase) -> list[tuple[str, int, int, int]]:
    """Name, arity, facts and explicit facts of each predicate, the largest first."""
    state, prefixes = kb.state(), kb.prefixes
    counted = [
        (print_name(p.name, prefixes), p.arity, len(state.facts.relation(p)), len(state.explicit.relation(p)))
        for p in kb.predicates
    ]
    return sorted(counted, key=lambda row: (-row[2], row[0]))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def change_html(change: Change) -> str:
    """How many facts came and went, by predicate."""
    sides = (change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted)
    counted = [(p, [_size(side, p) for side in sides]) for p in dict.fromkeys(p for side in sides for p in side)]
    counted.sort(key=lambda row: (-row[1][0] - row[1][1], str(row[0])))
    rows = [[str(p), *(f"{sign}{n:,}" for sign, n in zip("+-+-", sizes, strict=True))] for p, sizes in counted[:SHOWN]]
    added, removed = (sum(sizes[side] for _, sizes in counted) for side in (0, 1))
    caption = f"+{added:,} -{removed:,} facts by {change.stats.algorithm} in {change.stats.seconds:.3f} s"
    columns = ("predicate", "added", "removed", "explicit added", "explicit removed")
    return html_table(columns, rows, len(counted), caption=caption, numbers=range(1, 5))


def statistics_html(statistics: Statistics) -> str:
    """What a materialisation took, stratum by stratum."""
    caption = (
        f"{statistics.facts:,} facts: {statistics.explicit:,} explicit, {statistics.derived:,} derived; "
        f"{statistics.instances:,} instances in {statistics.rounds:,} rounds, {statistics.seconds:.3f} s"
    )
    rows = [
        (s.index, s.rules, s.recursive, f"{s.facts:,}", f"{s.instances:,}", f"{s.rounds:,}", f"{s.seconds:.3f}")
        for s in statistics.strata[:SHOWN]
    ]
    columns = ("stratum", "rules", "recursive", "facts", "instances", "rounds", "seconds")
    return html_table(columns, rows, len(statistics.strata), caption=caption, numbers=range(len(columns)))


def update_statistics_html(statistics: UpdateStatistics) -> str:
    """What an update took, phase by phase."""
    reason = f" ({statistics.reason})" if statistics.reason else ""
    rows = _figures({f"instances, {phase}": number for phase, number in statistics.instances.items()})
    names = ("overdeleted", "rederived", "checked", "proved", "blocked")
    rows += _figures({name: getattr(statistics, name) for name in names})
    caption = f"{statistics.algorithm}{reason}: {statistics.seconds:.3f} s"
    return html_table(("", "number"), rows, caption=caption, numbers=(1,))


def _figures(found: Mapping[str, int]) -> list[tuple[str, str]]:
    return [(name, f"{number:,}") for name, number in found.items() if number]


def _size(relations: Mapping[Any, Any], predicate: Predicate) -> int:
    return len(relations[predicate]) if predicate in relations else 0


def _cell(text: str | None) -> str:
    return "" if text is None else cell_text(text)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
