"""Reasoning about a version of a store whose facts are not all in this process, written once for look-ups and Spark.

Both open the version, give an engine to the algorithms of :mod:`everlog.reasoning`, and write the rows of the change.
:class:`everlog.backends.lookup.update.WorkingLookUps` fetches facts from the store when they are asked for,
:class:`everlog.backends.spark.on_spark.WorkingSpark` has them in executors. Where all facts are in one process,
:class:`everlog.KnowledgeBase` does this work: it keeps what it has opened from one change to the next.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Protocol

from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import ChangeOptions
from everlog.backends.written import Sizes, WrittenChange
from everlog.engine.algebra import AnyEngine, AnyFactSet
from everlog.lang.internal import VIOLATION
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import ExplicitChange
from everlog.reasoning.materialisation import C, F, Materialisation
from everlog.reasoning.rule_changes import derive_again
from everlog.reasoning.seen_change import ChangeAfresh, SeenChange
from everlog.reasoning.statistics import Listener
from everlog.reasoning.update import repair

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedVersion(Generic[F, C]):
    """A version as reasoning takes it: the program, the materialisation, and the predicates of modules whose facts the
    store does not list.

    ``figures`` are those of the store; before the first version there are none, and no facts.
    """

    program: StratifiedProgram
    materialisation: Materialisation[F, C]
    generated: frozenset[Predicate] = frozenset()
    figures: Mapping[str, Any] = field(default_factory=dict)


class WorkingVersion(Protocol[F, C]):
    """A version of a store that is reasoned about: its facts, an engine over them, and a writer of its change."""

    @property
    def version(self) -> OpenedVersion[F, C]:
        """The version before the change."""

    @property
    def engine(self) -> AnyEngine:
        """The engine that reasons about its facts."""

    def sizes(self, facts: AnyFactSet) -> Sizes:
        """The number of facts of each predicate in a set, without zeros."""

    def write(self, seen: SeenChange, sizes: Sizes) -> list[Path]:
        """Write the rows of a change, which are ``sizes`` many by predicate, and return the files."""


def update_version(backend: WorkingVersion[F, C], delete: F, insert: F, options: ChangeOptions) -> WrittenChange:
    """Change the explicit facts of a version to (E \\ delete) u insert, repair what follows, and write the change."""
    old = backend.version
    hidden = old.program.external
    explicit = ExplicitChange.of(old.materialisation.explicit, delete.renamed(hidden), insert.renamed(hidden))
    algorithm = options.algorithm
    if old.generated and old.materialisation.nr is None:
        log.info("derivations are not counted, and closures not listed: everything is derived again")
        algorithm = "rematerialise"
    done = repair(backend.engine, old.program, old.materialisation, explicit, algorithm, options.strategy)
    return _written(backend, SeenChange(done, hidden, old.generated), explicit.idle)


def derive_version(
    backend: WorkingVersion[F, C],
    program: StratifiedProgram,
    delete: F,
    insert: F,
    expand_below: int | None = None,
    listener: Listener | None = None,
) -> WrittenChange:
    """Derive what follows by a program from the explicit facts (E \\ delete) u insert, and write the change.

    Before the first version that is a change from nothing. A closure that comes to have more than ``expand_below``
    facts is no longer listed, unless rules of its stratum read it: only an engine that keeps it as a graph could repair
    it then.
    """
    old = backend.version
    before, hidden = old.materialisation.facts, old.program.external
    explicit = old.materialisation.explicit.renamed({inside: predicate for predicate, inside in hidden.items()})
    changed = ExplicitChange.of(explicit, delete, insert)
    done, statistics = derive_again(backend.engine, old.program, program, old.materialisation, changed, listener)
    of_modules = (facts.restricted(program.external) for facts in (before, done.materialisation.facts))
    known, now = map(backend.sizes, of_modules)
    most = float("inf") if expand_below is None else expand_below
    outgrown = {predicate for predicate, size in now.items() if known.get(predicate, 0) <= most < size}
    alone = {predicate for stratum in program.strata if stratum.alone is not None for predicate in stratum.predicates}
    generated = (old.generated | outgrown) & alone
    seen = ChangeAfresh(done, program.external, generated, before, hidden, old.generated)
    figures = {**statistics.as_dict(), "equality": old.figures.get("equality", "off")}
    return _written(backend, seen, changed.idle, figures)


def _written(
    backend: WorkingVersion[F, C],
    seen: SeenChange,
    not_explicit: int,
    figures: Mapping[str, Any] = MappingProxyType({}),
) -> WrittenChange:
    """Write a change and report it.

    ``not_explicit`` is the number of facts to delete that were not explicit, ``figures`` are those that replace the
    figures of the version before.
    """
    sides = seen.inserted, seen.deleted, seen.explicit_inserted, seen.explicit_deleted, seen.listed, seen.unlisted
    inserted, deleted, explicit_inserted, explicit_deleted, listed, unlisted = map(backend.sizes, sides)
    previous, new = backend.version.figures, seen.change.materialisation
    is_changed = inserted or deleted or explicit_inserted or explicit_deleted or isinstance(seen, ChangeAfresh)
    files = backend.write(seen, _sum_of(listed, unlisted)) if is_changed else []
    facts = previous.get("facts", 0)
    new_figures = {
        **previous,
        **figures,
        "facts": facts + sum(inserted.values()) - sum(deleted.values()),
        "listed": previous.get("listed", facts) + sum(listed.values()) - sum(unlisted.values()),
        "explicit": previous.get("explicit", 0) + sum(explicit_inserted.values()) - sum(explicit_deleted.values()),
        "violations": previous.get("violations", 0) + inserted.get(VIOLATION, 0) - deleted.get(VIOLATION, 0),
        "instances": new.instances,
        "modules": bool(seen.hidden),
        **({"update": asdict(seen.change.statistics)} if previous else {}),
    }
    new_figures["derived"] = new_figures["facts"] - new_figures["explicit"]
    return WrittenChange(
        files,
        inserted,
        deleted,
        explicit_inserted,
        explicit_deleted,
        not_explicit,
        seen.change.statistics,
        new_figures,
        counted=new.nr is not None,
        generated=seen.generated,
    )


def _sum_of(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    """The sizes of two sets added up by predicate."""
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
