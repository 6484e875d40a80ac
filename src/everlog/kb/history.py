"""The changes of a store from one version to another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, reduce
from itertools import chain
from pathlib import Path

from everlog.analysis.check import check
from everlog.analysis.given import KINDS
from everlog.analysis.predicates import Names
from everlog.engine.difference import by_sign
from everlog.kb.change import Change, ChangedRelations
from everlog.kb.generated import generated_changes
from everlog.lang.parser import parse_stored
from everlog.lang.syntax import Predicate
from everlog.reasoning.statistics import UpdateStatistics
from everlog.store import Store, Version, VersionInfo
from everlog.store.codec import change_of
from everlog.store.loading import terms_of_rows
from everlog.store.store import UPDATES


def changes(path: str | Path, from_version: Version, to_version: Version | None = None) -> Change:
    """The changes after one version of a store up to another, by default the newest.

    They are read from the rows that the versions added, so the cost is that of the changes. A ``from_version`` of
    -1 stands for an empty store. A ``datetime`` stands for the newest version committed by that time.

    >>> import everlog, tempfile
    >>> place = tempfile.mkdtemp() + "/kb"
    >>> kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(a) .")
    >>> kb.save(place)
    0
    >>> change = kb.update(insert={"q": [("b",)]}, delete={"q": [("a",)]})
    >>> kb.save()
    1
    >>> changed = changes(place, 0)
    >>> changed.inserted["p"].rows(), changed.deleted["p"].rows()
    ([('b',)], [('a',)])
    """
    store = Store.open(path)
    first = from_version if isinstance(from_version, int) else store.info(from_version).version
    return changes_in(store, first, store.info(to_version).version)


def changes_in(store: Store, from_version: int, to_version: int | None = None) -> Change:
    """The changes of :func:`changes` in a store that is open already."""
    info = store.info(to_version)
    rows = store.changes(from_version, info.version)
    found = generated_changes(store, from_version, info.version, rows)
    dictionary = terms_of_rows(store, rows, max(from_version, 0), info.version) if found is None else found.dictionary
    change = change_of(rows, dictionary)
    parts = [*by_sign(change.holds), *by_sign(change.explicit)]
    if found is not None:
        parts[:2] = (part.replaced(own) for part, own in zip(parts, (found.inserted, found.deleted), strict=False))
    versions = (info,) if from_version < 0 else (info, store.info(from_version))
    known = chain.from_iterable((*map(known_in, versions), *parts))
    names = Names(dict.fromkeys(known), prefixes_of(info))
    inserted, deleted, more, less = (ChangedRelations(names, dictionary, part) for part in parts)
    return Change(inserted, deleted, more, less, 0, _figures(store, range(from_version + 1, info.version + 1)))


def _figures(store: Store, versions: range) -> UpdateStatistics:
    """The summed figures of the updates that made some versions, as far as the versions record them."""
    made = (info for info in map(store.info, versions) if info.operation in UPDATES)
    found = [UpdateStatistics.stored(info.statistics["update"]) for info in made if "update" in info.statistics]
    return reduce(UpdateStatistics.then, found) if found else UpdateStatistics("")


def prefixes_of(info: VersionInfo) -> Mapping[str, str]:
    """The prefixes that the rules of a version declare, and those of its facts under other names."""
    return {**info.prefixes, **_declared(info.rules)}


@lru_cache(maxsize=4)
def _declared(rules: str) -> Mapping[str, str]:
    return parse_stored(rules, "rules").prefixes


def known_in(info: VersionInfo) -> list[Predicate]:
    """The predicates that a version names: those of its rules, and those of facts that have bare names."""
    return [*_predicates_of(info.rules), *map(Predicate.parse, info.statistics.get(KINDS, ()))]


@lru_cache(maxsize=4)
def _predicates_of(rules: str) -> tuple[Predicate, ...]:
    """The predicates of the rules of a version."""
    return check(parse_stored(rules, "rules")).predicates
