"""Opening the knowledge base in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everlog.engine.state import State
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import StoreHandle
from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.lang.parser import parse_stored
from everlog.reasoning.equality import Equality
from everlog.reasoning.statistics import Statistics, StratumStatistics
from everlog.store import Store, Version, VersionInfo
from everlog.store.loading import load
from everlog.store.states import without_snapshot


def open(path: str | Path | Store, version: Version | None = None, **options: Any) -> KnowledgeBase:
    """The knowledge base in a store, in its newest or another version, ready to be queried and changed.

    ``version`` is a number, or a ``datetime``: then it is the newest version committed by that time.
    A time without a zone is local time. ``path`` may be a store that was opened already.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/kb"
    >>> KnowledgeBase("p(?x) :- q(?x) . q(a) .").save(place)
    0
    >>> kb = open(place)
    >>> kb["p"].rows()
    [('a',)]
    >>> kb.insert("q", [("b",)])
    >>> kb.save(), open(place, 0)["p"].rows(), open(place)["p"].rows()
    (1, [('a',)], [('a',), ('b',)])
    """
    store = path if isinstance(path, Store) else Store.open(path)
    info = store.info(version)
    program = parse_stored(info.rules, f"{store.path} (rules of version {info.version})")
    snapshot = load(store, info.version)
    options.setdefault("maintain", info.bookkeeping)
    statistics = statistics_of(info.statistics)
    how, modules = how_made(statistics), options.get("modules", info.modules)
    options = {**how, **options}
    _refuse_other_equality(store, statistics.equality, options["equality"])
    if all(options[name] == value for name, value in how.items()):
        kb = KnowledgeBase.restored(program, snapshot.state, statistics, info.statistics, **options)
        kb.adopt(snapshot.state, StoreHandle.at(store.path, info.version, info.writer, snapshot, kb.program))
        kb.modules_open = modules is not False and not how["modules"] and how["equality"] != "representatives"
        kb.declare(info.prefixes)
        return kb
    state = snapshot.state
    listed = with_state(store, info, state).listed() if state.generated else state
    kb = KnowledgeBase.restored(program, listed.uncounted(), statistics, info.statistics, **options)
    kb.is_saved(
        StoreHandle.at(store.path, info.version, info.writer, without_snapshot(snapshot.state.uncounted()), kb.program)
    )
    kb.declare(info.prefixes)
    return kb


def with_state(store: Store, info: VersionInfo, state: State) -> KnowledgeBase:
    """A knowledge base with the rules of a version and a state, with the options of the one that made the version."""
    statistics = statistics_of(info.statistics)
    program = parse_stored(info.rules, f"{store.path} (rules of version {info.version})")
    return KnowledgeBase.restored(program, state, statistics, **how_made(statistics))


def how_made(statistics: Statistics) -> dict[str, Any]:
    """The options of the knowledge base that made a version."""
    return {
        "modules": statistics.modules,
        "stratification": statistics.stratification,
        "equality": statistics.equality,
    }


def _refuse_other_equality(store: Store, made: Equality, asked: Equality) -> None:
    """Raise an error if the facts of a store are not those that the requested equality gives."""
    if asked != made and "representatives" in (asked, made):
        hint = "open it without the option, or materialise again"
        raise StoreError.of(Code.OTHER_EQUALITY, f"{store.path} has equality={made!r}, not {asked!r}", None, hint)


def statistics_of(data: dict[str, Any]) -> Statistics:
    """The inverse of ``Statistics.as_dict``."""
    fields = {name: data[name] for name in ("facts", "explicit", "instances", "rounds", "seconds")}
    strata = tuple(StratumStatistics(**stratum) for stratum in data["strata"])
    how = {name: data[name] for name in ("modules", "stratification", "equality", "violations") if name in data}
    return Statistics(**fields, strata=strata, **how)
