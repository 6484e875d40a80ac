"""The predicates that users have named, by arguments or by the names of files, with the places."""

from __future__ import annotations

from collections.abc import Iterable

from everlog.ingest.sources import FactSource, ReadOptions
from everlog.ingest.split import Split
from everlog.lang.errors import Place
from everlog.lang.kinds import Kinds
from everlog.lang.syntax import Predicate


def named_predicates(
    sources: Iterable[FactSource], parts: Iterable[Split], options: ReadOptions
) -> dict[Predicate, Place]:
    """The predicates of tabular sources, each with the first of its files; an empty file names one, too.

    >>> source = FactSource("in/blocked.csv", "csv", "blocked", False, "blocked.csv")
    >>> named_predicates([source], [], ReadOptions(arities={"blocked": 1}))
    {Predicate(name='blocked', arity=1): Place(file='in/blocked.csv', line=None, column=None, text=None, width=1)}
    """
    arities = dict(options.arities)
    arities |= {part.source.predicate: part.arity for part in parts if part.source.predicate and part.arity is not None}
    found: dict[Predicate, Place] = {}
    for source in sources:
        if source.predicate is not None and (arity := arities.get(source.predicate)) is not None:
            found.setdefault(Predicate(source.predicate, arity), Place(source.shown(source.path)))
    return found


def with_empty(kinds: dict[Predicate, Kinds], named: Iterable[Predicate]) -> dict[Predicate, Kinds]:
    """The kinds of facts that were read, and no kinds for named predicates without facts.

    >>> with_empty({}, [Predicate("blocked", 1)])
    {Predicate(name='blocked', arity=1): (0,)}
    """
    return {**{predicate: (0,) * predicate.arity for predicate in named}, **kinds}
