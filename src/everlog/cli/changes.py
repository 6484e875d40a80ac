"""``everlog changes``"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import click
import pyarrow as pa

from everlog.cli.console import Console
from everlog.cli.options import logging_options, store_argument
from everlog.engine.tables import argument_names
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.kb.change import ChangedRelations
    from everlog.query.answers import Rows
    from everlog.store import Store

FOLLOW_SECONDS = 0.5
"""Seconds between two searches for new versions."""


@click.command("changes")
@store_argument
@click.option("--from", "first", type=click.IntRange(-1), metavar="V", help="Changes after this version, by default 0.")
@click.option("--to", "last", type=click.IntRange(0), metavar="V", help="Changes up to this version.")
@click.option("--predicate", "predicates", multiple=True, metavar="P", help="Only this predicate. May be repeated.")
@click.option("--explicit", is_flag=True, help="Changes of the explicit facts instead of all facts.")
@click.option("--follow", is_flag=True, help="Go on with new versions as they come, by default with these alone.")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@logging_options
def command(
    console: Console,
    store: str,
    first: int | None,
    last: int | None,
    predicates: tuple[str, ...],
    explicit: bool,
    follow: bool,
    form: str,
) -> None:
    """Show exactly which facts each version of a STORE added (+) and removed (-).

    Versions are counted from 0, the first one made; --from -1 shows also what that one added.
    Applying the changes of a version to the facts of the one before gives its facts.
    """
    from everlog.cli.writers import sink
    from everlog.store import Store

    console.watch_compilation()
    opened = Store.open(store)
    end = opened.info(last).version
    start = (end if follow else min(0, end - 1)) if first is None else first
    if start > end:
        after = f"the newest version, {end}" if last is None else f"--to {end}"
        raise click.UsageError(f"--from {start} is after {after}")
    if follow and last is not None:
        raise click.UsageError("--follow has no end, so there is no --to")
    for name in predicates:
        _warn_of_unknown(opened, name, {end, max(start, 0)})
    written = 0
    with sink(None) as file:
        writer = WRITERS[form](file, opened.width(end))
        for version in chain(range(start + 1, end + 1), _new_versions(opened) if follow else ()):
            for sign, name, rows, prefixes in _changed(opened, version, predicates, explicit):
                writer.write(version, sign, name, rows, prefixes)
                written += len(rows)
            if follow:
                file.flush()
    console.progress.result(f"{counted(written, 'change')} in {counted(end - start, 'version')}", changes=written)


def _warn_of_unknown(store: Store, name: str, versions: set[int]) -> None:
    """Warn of a bare name that no rule and no fact has; versions do not record the IRIs of facts."""
    from everlog.analysis.check import unknown_predicate
    from everlog.kb.history import known_in
    from everlog.lang.characters import BARE_NAME
    from everlog.lang.codes import Severity
    from everlog.lang.errors import warn
    from everlog.lang.syntax import Predicate

    known = {predicate for version in versions for predicate in known_in(store.info(version))}
    if BARE_NAME.fullmatch(name) and name not in {predicate.name for predicate in known}:
        found = unknown_predicate(Predicate(name, 0), known)
        warn(replace(found, message=f"there is no predicate `{name}`", severity=Severity.WARNING))


def _new_versions(store: Store) -> Iterator[int]:
    """The versions after the newest one, each as soon as it is committed; does not end."""
    from everlog.store.log import newest_version

    while True:
        newest = newest_version(store.layout.facts)
        known, store.version = store.version, max(store.version, newest or 0)
        yield from range(known + 1, store.version + 1)
        time.sleep(FOLLOW_SECONDS)


Found = Iterator[tuple[str, str, "Rows", Mapping[str, str]]]


def _changed(store: Store, version: int, predicates: tuple[str, ...], explicit: bool) -> Found:
    """The facts that a version added and removed: sign, predicate and rows, in the order of the predicates."""
    from everlog.kb.history import changes_in, prefixes_of
    from everlog.lang.parser import resolve_predicate_name

    if store.info(version).operation in ("compact", "widen"):
        return
    prefixes = prefixes_of(store.info(version))
    wanted = {resolve_predicate_name(name, prefixes) for name in predicates}
    changed = changes_in(store, version - 1, version)
    added: ChangedRelations = changed.explicit_inserted if explicit else changed.inserted
    removed: ChangedRelations = changed.explicit_deleted if explicit else changed.deleted
    for predicate in sorted({*added, *removed}):
        if wanted and predicate.name not in wanted:
            continue
        for sign, relations in (("-", removed), ("+", added)):
            if predicate in relations:
                yield sign, predicate.name, relations[predicate], prefixes


class Writer:
    """Writes rows of changes: first ``head``, then for each row the ``pieces`` of its line.

    Pieces are columns, and the texts between them; ``width`` is the largest number of arguments.
    """

    head = ""

    def __init__(self, file: IO[bytes], width: int) -> None:
        self._file = file
        self.width = width
        file.write(self.head.encode())

    def write(self, version: int, sign: str, name: str, rows: Rows, prefixes: Mapping[str, str]) -> None:
        """Write the rows of one predicate that one version added or removed."""
        from everlog.cli.writers import text_batches
        from everlog.query.cells import data_of, joined

        for texts in text_batches(rows, len(rows)) if rows.columns else [[]]:
            pieces = self.pieces(version, sign, name, texts, prefixes)
            if any(not isinstance(piece, str) for piece in pieces):
                self._file.write(data_of(joined([*pieces, "\n"])))
            else:
                self._file.write(("".join(pieces) + "\n").encode())

    def pieces(self, version: int, sign: str, name: str, texts: list[Any], prefixes: Mapping[str, str]) -> list[Any]:
        raise NotImplementedError


class LineWriter(Writer):
    """Writes one line for each fact: version, sign, and the fact as rules write it."""

    head = "version     fact\n-------  -  ----\n"

    def pieces(self, version: int, sign: str, name: str, texts: list[Any], prefixes: Mapping[str, str]) -> list[Any]:
        from everlog.query.cells import interleaved, table_cells

        cells = [table_cells(column, prefixes) for column in texts]
        shown = _name_cell(table_cells, name, prefixes)
        return [f"{version:>7}  {sign}  {shown}(", *interleaved(cells, ", "), ")"]


class Csv(Writer):
    """Writes CSV with the columns ``version``, ``change``, ``predicate``, ``c0``, ...; cells beyond the arity are
    empty."""

    def __init__(self, file: IO[bytes], width: int) -> None:
        self.head = ",".join(["version", "change", "predicate", *argument_names(width)]) + "\n"
        super().__init__(file, width)

    def pieces(self, version: int, sign: str, name: str, texts: list[Any], prefixes: Mapping[str, str]) -> list[Any]:
        from everlog.query.cells import csv_cells, interleaved

        cells = [csv_cells(column, prefixes) for column in texts]
        head = f"{version},{sign},{_name_cell(csv_cells, name, prefixes)}"
        return [*interleaved([head, *cells], ","), "," * (self.width - len(cells))]


class Json(Writer):
    """Writes one object on each line: ``version``, ``change``, ``predicate``, ``arguments``."""

    def pieces(self, version: int, sign: str, name: str, texts: list[Any], prefixes: Mapping[str, str]) -> list[Any]:
        from everlog.query.cells import interleaved, json_values

        head = json.dumps({"version": version, "change": sign, "predicate": name}, ensure_ascii=False)
        return [head[:-1] + ', "arguments": [', *interleaved([json_values(column) for column in texts], ", "), "]}"]


WRITERS = {"table": LineWriter, "csv": Csv, "json": Json}


def _name_cell(cells: Callable[[Any, Mapping[str, str]], Any], name: str, prefixes: Mapping[str, str]) -> str:
    """The name of a predicate; an IRI as cells of the same output show it."""
    return str(cells(pa.array([name], pa.large_string()), prefixes)[0]) if name.startswith("<") else name
