"""A summary of a change of a live knowledge base, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from everlog.kb.rule_edits import RulesChanged
from everlog.lang.layout import counted
from everlog.lang.printer import print_name

if TYPE_CHECKING:
    from everlog.kb.change import Change

SHOWN = 12
"""Maximum number of predicates in a line."""


def change_text(change: Change, prefixes: Mapping[str, str]) -> str:
    """A summary of a change: the numbers of facts inserted and deleted for each predicate.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> change_text(kb.update(insert={"edge": [("b", "c")]}, delete={"edge": [("a", "b")]}), {})
    '+1 edge, +1 path, -1 edge, -1 path'
    """
    shown = ", ".join([*_rules(change), *filter(None, [_counted(change.inserted, change.deleted, prefixes)])])
    if not shown and (explicit := _counted(change.explicit_inserted, change.explicit_deleted, prefixes)):
        shown = f"no fact inserted or deleted; explicit: {explicit}"
    shown = shown or "nothing changed"
    if change.not_explicit:
        shown += f"; {change.not_explicit:,} not removed, being no explicit fact"
    return shown


def _rules(change: Change) -> Iterator[str]:
    """The parts of the line about rules that were added or removed, or known already."""
    if not isinstance(change, RulesChanged):
        return
    sides = (("+", change.rules_added, ""), ("-", change.rules_removed, ""), ("", change.rules_known, " there already"))
    for sign, rules, more in sides:
        if rules:
            yield f"{sign}{counted(len(rules), 'rule')}{more}"


def _counted(inserted: Mapping[Any, Any], deleted: Mapping[Any, Any], prefixes: Mapping[str, str]) -> str:
    parts = [*_parts("+", inserted, prefixes), *_parts("-", deleted, prefixes)]
    if len(parts) > SHOWN:
        parts = [*parts[:SHOWN], f"and {len(parts) - SHOWN:,} more predicates"]
    return ", ".join(parts)


def _parts(sign: str, relations: Mapping[Any, Any], prefixes: Mapping[str, str]) -> Iterator[str]:
    sizes = {print_name(predicate.name, prefixes): len(rows) for predicate, rows in relations.items()}
    yield from (f"{sign}{size:,} {name}" for name, size in sorted(sizes.items()) if size)
