"""The back ends as users choose them: the one file that states how each is chosen, and which features it lacks.

A back end materialises facts from files into a store, updates the store by facts from files, and changes its rules.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.backends import cascade
from everlog.ingest.rdf import blank_prefix
from everlog.jobs import changing
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.rules import RulesJob, change_rules
from everlog.jobs.update import UpdateJob, update
from everlog.lang.errors import EverlogError
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate, Program
from everlog.settings import EXPAND_BELOW
from everlog.store import Store
from tests.oracle.naive import Fact, grouped

SOURCE = "data.nt"
"""The name of the source of all blank nodes."""

GAPS: Mapping[tuple[str, str], str] = {
    ("look-up", "rematerialise"): "the change is large, or everything is to be derived again",
    ("look-up", "all changes"): "everything would be derived again",
    ("look-up", "uncounted"): "all derivations would be counted",
    ("look-up", "entangled"): "modules and rules depend on each other",
    ("look-up", "counting"): "all derivations would be counted",
    ("look-up", "representatives"): "the classes of equal terms depend on all facts",
    ("look-up", "rules"): "rules are matched against whole relations",
    ("spark", "representatives"): "the classes of equal terms are found in one process",
}
"""Maps a back end and a feature that it does not have to the reason, in the words of its error."""


class GapError(Exception):
    """A back end does not have the feature that a job needs."""


@dataclass(frozen=True)
class Reported:
    """The report of an update: the numbers of changed facts by predicate."""

    inserted: Mapping[Predicate, int]
    deleted: Mapping[Predicate, int]
    explicit_inserted: Mapping[Predicate, int]
    explicit_deleted: Mapping[Predicate, int]
    not_explicit: int

    @classmethod
    def of(cls, change: Any) -> Reported:
        sides = (change.inserted, change.deleted, change.explicit_inserted, change.explicit_deleted)
        inserted, deleted, explicit_inserted, explicit_deleted = (
            {p: len(rows) for p, rows in side.items()} for side in sides
        )
        return cls(inserted, deleted, explicit_inserted, explicit_deleted, change.not_explicit)


class Local:
    """The back end that does all jobs in this process."""

    name = "local"
    needs_spark = False

    def materialise(self, work: Path, program: Program, facts: Collection[Fact], **options: Any) -> Path:
        """Make a store with the facts that follow from rules and from facts in files; needs no JVM."""
        listed = options.pop("expand_below", EXPAND_BELOW)
        kb = everlog.KnowledgeBase(written_rules(work, program), **{"maintain": "dredc", **options})
        for argument in written_facts(work / "facts", facts):
            name, _, path = argument.rpartition("=")
            kb.load(path, name or None, source=SOURCE)
        kb.save(work / "kb", expand_below=listed)
        return work / "kb"

    def update(self, store: Path, insert: Collection[Fact], delete: Collection[Fact], algorithm: Any) -> Reported:
        """Update a store by explicit facts to insert and to delete, in files."""
        files = store.parent / f"change-{Store.open(store).version}-{algorithm}"
        given: Any = {
            "insert": written_facts(files / "insert", insert),
            "delete": written_facts(files / "delete", delete),
        }
        job = UpdateJob(str(store), **given, algorithm=algorithm, source=SOURCE, compact=False, **self.chosen)
        return Reported.of(update(job).change)

    def change_rules(self, store: Path, add: Program, remove: Program, algorithm: Any = "auto") -> Reported:
        """Update a store by rules to add and to remove, in files."""
        paths = [written_rules(store.parent / name, program) for name, program in (("add", add), ("remove", remove))]
        given: Any = {"add": (str(paths[0]),), "remove": (str(paths[1]),), **self.chosen}
        return Reported.of(change_rules(RulesJob(str(store), **given, algorithm=algorithm, compact=False)).change)

    def refuse_rules(self) -> None:
        """Raise an error if this back end does not change rules."""

    @property
    def chosen(self) -> dict[str, Any]:
        """The options of an update that choose this back end."""
        return {"engine": "local"}


class LookUp(Local):
    """The back end that updates in this process by look-ups in the store, as for stores larger than the memory."""

    name = "look-up"

    def update(self, store: Path, insert: Collection[Fact], delete: Collection[Fact], algorithm: Any) -> Reported:
        reasons = _Reasons()
        log = logging.getLogger("everlog")
        level = log.level
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cascade, "needs_spark_to_update", lambda *arguments: True)
            patch.setattr(changing, "session", reasons.give_up)
            log.addHandler(reasons)
            log.setLevel("INFO")
            try:
                done = super().update(store, insert, delete, algorithm)
            finally:
                log.removeHandler(reasons)
                log.setLevel(level)
        if not reasons.by_look_ups:
            raise GapError(reasons.last)
        return done

    def refuse_rules(self) -> None:
        raise GapError("rules are matched against whole relations")

    @property
    def chosen(self) -> dict[str, Any]:
        return {"engine": "auto"}


class _Reasons(logging.Handler):
    """Finds in the log whether an update was done by look-ups, and otherwise the reason why not."""

    last = "nothing is looked up"
    by_look_ups = False

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        self.by_look_ups |= "rows looked up of" in message
        if message.startswith("not by look-ups: "):
            self.last = message.rpartition(": ")[2]

    def give_up(self, master: str | None) -> Any:
        """Replaces the start of Spark, by which a user's update would go on."""
        raise GapError(self.last)


class InOneTask(Local):
    """The back end that updates in one task of an executor, as Spark does with small stores of any origin."""

    name = "one task"
    needs_spark = True

    def update(self, store: Path, insert: Collection[Fact], delete: Collection[Fact], algorithm: Any) -> Reported:
        try:
            return super().update(store, insert, delete, algorithm)
        except EverlogError as error:
            if error.diagnostics[0].code == "too-much-for-spark":
                raise GapError(error.diagnostics[0].message.rpartition("(")[2].removesuffix(")")) from error
            raise

    @property
    def chosen(self) -> dict[str, Any]:
        return {"engine": "spark"}


class OnSpark(InOneTask):
    """The back end that distributes jobs over executors, for stores of any size."""

    name = "spark"

    def materialise(self, work: Path, program: Program, facts: Collection[Fact], **options: Any) -> Path:
        files = written_facts(work / "facts", facts)
        rules = str(written_rules(work, program))
        materialise(MaterialiseJob(rules, files, str(work / "kb"), source=SOURCE, **options, **self.chosen))
        return work / "kb"

    @property
    def chosen(self) -> dict[str, Any]:
        return {"engine": "spark", "local_finish": 0}


BACKENDS: Mapping[str, Local] = {each.name: each for each in (Local(), LookUp(), InOneTask(), OnSpark())}


def written_rules(directory: Path, program: Program) -> Path:
    """Write a program into a file, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "rules.rls"
    path.write_text(print_program(program))
    return path


def written_facts(directory: Path, facts: Iterable[Fact]) -> tuple[str, ...]:
    """Write facts into files, and return these as arguments of ``--facts``.

    Facts with blank nodes are in N-Triples, others in CSV.
    """
    directory.mkdir(parents=True, exist_ok=True)
    arguments = []
    triples = []
    for number, (predicate, rows) in enumerate(sorted(grouped(facts).items())):
        assert predicate.arity, "a file has no rows without cells"
        blank = {row for row in rows if any(text.startswith("_:") for text in row)}
        triples += [_triple(predicate, row) for row in blank]
        if plain := sorted(rows - blank):
            path = directory / f"{number}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(plain)
            arguments.append(f"{predicate.name}={path}")
    if triples:
        path = directory / SOURCE
        path.write_text("".join(triples))
        arguments.append(str(path))
    return tuple(arguments)


def _triple(predicate: Predicate, row: tuple[str, ...]) -> str:
    """A fact as a line of N-Triples, with the labels that blank nodes have in their source."""
    cells = [cell.replace(blank_prefix(SOURCE), "_:") for cell in row]
    if predicate.arity == 1:
        return f"{cells[0]} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> {predicate.name} .\n"
    return f"{cells[0]} {predicate.name} {cells[1]} .\n"
