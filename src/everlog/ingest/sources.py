"""The sources that ``[NAME=]PATH[COLUMN, ...]`` arguments stand for.

A path is a file, a directory or a glob. The kind of a file follows from its extension. A directory stands for
everything in it, except that a Delta table and a directory of part files are one relation. Columns in brackets are
those that become arguments, in this order.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from everlog.host.addresses import local_path, scheme_of
from everlog.host.locations import kind_of
from everlog.ingest.blocks import unreadable
from everlog.ingest.cells import iri_of
from everlog.ingest.extensions import KIND_OF_EXTENSION, RDF_KINDS, is_hidden, kind_and_stem, kind_by_name
from everlog.ingest.fetching import FetchedCopy, fetch
from everlog.lang.characters import BARE_NAME
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import DataError, Diagnostic, Place, warn

KNOWN = f"known are {' '.join(KIND_OF_EXTENSION)}, each also with .gz"
_ARGUMENT = re.compile(r"(?P<name><[^<>]*>|[^=/]*)=(?P<path>.*)", re.DOTALL)
_PICKED = re.compile(r'(?P<path>.*)\[(?P<columns>(?:"[^"]*"|[^"\[\]])+)\]', re.DOTALL)


@dataclass(frozen=True)
class FactSource:
    """One relation or RDF document to read."""

    path: str
    kind: str
    predicate: str | None
    """The predicate of a tabular source, a bare name or ``<iri>``; None for RDF."""
    compressed: bool
    name: str
    """The name from which blank nodes are labelled: the path relative to the argument."""
    copy: FetchedCopy | None = None
    """The copy that the path is in, if the source is in an object store."""
    columns: tuple[str, ...] = ()
    """The names of the columns that become arguments; none means all columns."""

    def shown(self, path: str) -> str:
        """A path of the source in the form that the user gave."""
        return path if self.copy is None else self.copy.shown(path)


@dataclass(frozen=True)
class ReadOptions:
    """The options of a load."""

    header: bool = False
    types: str = "auto"
    prefixes: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None
    source: str | None = None
    arities: Mapping[str, int] = field(default_factory=dict)
    """Number of columns of each known bare predicate."""
    graphs: bool = False
    """Whether facts of RDF have their graph as the last argument."""

    def __post_init__(self) -> None:
        # Plain dictionaries can be pickled, whatever kind of mapping was given.
        object.__setattr__(self, "prefixes", dict(self.prefixes))
        object.__setattr__(self, "arities", dict(self.arities))


def resolve(arguments: Sequence[str], options: ReadOptions, work: Path | None = None) -> list[FactSource]:
    """The sources that arguments of the form ``[NAME=]PATH[COLUMN, ...]`` stand for.

    Files in object stores are copied into ``work``, a directory that all readers share; it must be given if an
    argument has such an address. All arguments that are wrong are reported together in one :class:`DataError`.
    """
    found: dict[tuple[str, str | None, tuple[str, ...]], FactSource] = {}
    problems: list[DataError] = []
    for argument in arguments:
        try:
            for source in _argument(argument, options, work):
                found.setdefault((source.path, source.predicate, source.columns), source)
        except DataError as error:
            problems.append(error)
        except OSError as error:
            problems.append(unreadable(error.filename or argument, error))
    if problems:
        raise DataError(diagnostic for error in problems for diagnostic in error.diagnostics)
    _warn_of_tables(found.values())
    return _with_distinct_names(list(found.values()))


def _warn_of_tables(sources: Iterable[FactSource]) -> None:
    """Warn of Parquet files that are read by themselves and belong to a Delta table: only its log knows its rows."""
    folders = {os.path.dirname(os.path.abspath(source.path)): source for source in sources if source.kind == "parquet"}
    above = {
        str(table): source for folder, source in folders.items() for table in (Path(folder), *Path(folder).parents)
    }
    for table in sorted(table for table in above if os.path.isdir(os.path.join(table, "_delta_log"))):
        message = "files of a Delta table are read by themselves, with rows that the table may not have any more"
        hint = "give the directory of the table instead of its files"
        place = Place(above[table].shown(table))
        warn(Diagnostic(Code.FILE_OF_A_TABLE, message, place, hint, severity=Severity.WARNING))


def _argument(argument: str, options: ReadOptions, work: Path | None) -> Iterator[FactSource]:
    name, path = _split(argument, options)
    path, columns = _picked(path)
    for source in _sources(path, name, options, work):
        if columns and source.predicate is None:
            message, hint = "an RDF file has no columns that could be picked", f"leave out [{', '.join(columns)}]"
            raise DataError.of(Code.PICKED_RDF, message, Place(source.shown(source.path)), hint)
        yield replace(source, columns=columns)


def _sources(path: str, name: str | None, options: ReadOptions, work: Path | None) -> Iterator[FactSource]:
    if kind_of(path) is None:
        yield from _at(str(local_path(path)) if scheme_of(path) == "file" else path, name, options)
        return
    assert work is not None
    copy = fetch(path, work)
    try:
        yield from (replace(source, copy=copy) for source in _at(copy.path, name, options, copied=True))
    except DataError as error:
        raise copy.as_given(error) from None


def _picked(path: str) -> tuple[str, tuple[str, ...]]:
    """The path, and the columns in brackets behind it. Brackets that are part of a name or of a glob stay in the
    path.

    >>> _picked('in/trips.parquet[src, "a, b"]'), _picked("in/part-[ab]")
    (('in/trips.parquet', ('src', 'a, b')), ('in/part-[ab]', ()))
    """
    match = _PICKED.fullmatch(path)
    if match is None or os.path.exists(path) or (kind_of(path) is None and glob.glob(path)):
        return path, ()
    table = match["path"]
    if "," not in match["columns"] and kind_by_name(table) is None and not os.path.exists(table):
        return path, ()
    (names,) = csv.reader([match["columns"]], skipinitialspace=True)
    return table, tuple(name.strip() for name in names)


def _at(path: str, name: str | None, options: ReadOptions, copied: bool = False) -> Iterator[FactSource]:
    """The sources at a path of a file system, where they may have been copied to from an object store."""
    if os.path.isdir(path):
        yield from _directory(Path(path), Path(path), name, options)
    elif os.path.exists(path):
        yield _file(Path(path), Path(path).name, name, options)
    else:
        root = Path(re.split(r"[*?\[]", path, maxsplit=1)[0] or ".")
        root = root if path.startswith(f"{root}/") or str(root) == "." else root.parent
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        matches = [match for match in matches if not is_hidden(os.path.relpath(match, root))]
        if not matches:
            raise _nothing(path, copied)
        for match in map(Path, matches):
            if match.is_dir():
                yield from _directory(match, root, name, options)
            else:
                yield _file(match, os.path.relpath(match, root), name, options)


def _split(argument: str, options: ReadOptions) -> tuple[str | None, str]:
    """The predicate, if one is given, and the path."""
    match = _ARGUMENT.fullmatch(argument)
    if match is None or (os.path.exists(argument) and not os.path.exists(match["path"])):
        return None, argument
    name = match["name"]
    if BARE_NAME.fullmatch(name):
        return name, match["path"]
    iri = iri_of(name, options.prefixes)
    if iri is not None:
        return f"<{iri}>", match["path"]
    prefix, colon, _ = name.partition(":")
    if colon and prefix not in options.prefixes:
        known = ", ".join(f"{prefix}:" for prefix in sorted(options.prefixes))
        hint = f"the rules declare {known}" if known else "declare it in the rules with @prefix, or write the <iri>"
        message = f"the prefix {prefix}: of the predicate {name} is not declared"
        raise DataError.of(Code.UNKNOWN_PREFIX, message, None, hint)
    hint = "use letters, digits, _ and -, starting with a letter or _; a prefixed name; or <iri>"
    raise DataError.of(Code.BAD_NAME, f"{name!r} cannot be the name of a predicate", None, hint)


def _file(path: Path, relative: str, name: str | None, options: ReadOptions) -> FactSource:
    kind, stem, compressed = kind_and_stem(path)
    if kind is None:
        message = "the extension says nothing about what is in the file"
        raise DataError.of(Code.UNKNOWN_KIND, message, Place(str(path)), KNOWN)
    if kind in RDF_KINDS and name is not None:
        message = f"an RDF file has predicates of its own, so it cannot be read as {name}"
        raise DataError.of(Code.NAMED_RDF, message, Place(str(path)), f"leave out {name}=")
    predicate = None if kind in RDF_KINDS else name or _predicate(stem, path)
    return FactSource(str(path), kind, predicate, compressed, _source_name(relative, path, options))


def _predicate(stem: str, path: Path) -> str:
    if BARE_NAME.fullmatch(stem):
        return stem
    message = f"{stem!r} cannot be the name of a predicate"
    raise DataError.of(Code.BAD_NAME, message, Place(str(path)), f"name the predicate: NAME={path}")


def _directory(path: Path, root: Path, name: str | None, options: ReadOptions) -> Iterator[FactSource]:
    """The sources in a directory. Their names are relative to ``root``."""
    if (path / "_delta_log").is_dir():
        relative = os.path.relpath(path, root)
        predicate = name or _directory_predicate(path)
        yield FactSource(str(path), "delta", predicate, False, _source_name(relative, path, options))
        return
    found = list(_entries(path, root, name, options))
    if not found and path == root:
        message = "there is no file of a known kind in the directory"
        raise DataError.of(Code.NOTHING_TO_READ, message, Place(str(path)), KNOWN)
    yield from found


def _entries(path: Path, root: Path, name: str | None, options: ReadOptions) -> Iterator[FactSource]:
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith(("_", ".")))
    for entry in entries:
        kind, _, _ = kind_and_stem(entry)
        if entry.is_dir():
            if "=" in entry.name:
                message = "the directory is partitioned: its names hold values of a column"
                hint = "write it as a Delta table or without partitions"
                raise DataError.of(Code.PARTITIONED_DIRECTORY, message, Place(str(entry)), hint)
            yield from _directory(entry, root, name, options)
        elif kind is not None:
            part = entry.name.startswith("part-") and kind not in RDF_KINDS
            predicate = name or (_directory_predicate(path) if part else None)
            yield _file(entry, os.path.relpath(entry, root), predicate, options)


def _directory_predicate(path: Path) -> str:
    kind, stem, _ = kind_and_stem(path.absolute())
    return _predicate(stem if kind else path.absolute().name, path)


def _source_name(relative: str, path: Path, options: ReadOptions) -> str:
    relative = path.absolute().name if relative == "." else relative
    if options.source is None:
        return relative
    return options.source if relative == path.name else f"{options.source}/{relative}"


def _with_distinct_names(sources: list[FactSource]) -> list[FactSource]:
    """The sources; those with the same name are named by their paths, so that they do not share blank nodes."""
    names = Counter(source.name for source in sources if source.predicate is None)
    return [
        replace(source, name=source.shown(source.path))
        if source.predicate is None and names[source.name] > 1
        else source
        for source in sources
    ]


def _nothing(path: str, copied: bool) -> DataError:
    if glob.has_magic(path):
        return DataError.of(Code.NOTHING_TO_READ, "no file matches the pattern", Place(path), "check the path")
    folder = os.path.dirname(path) or "."
    if copied:
        hint = "nothing in the object store has this address or one that starts with it and `/`: check it"
        return DataError.of(Code.NO_SUCH_FILE, "the file does not exist", Place(path), hint)
    hint = "check the path" if os.path.isdir(folder) else f"there is no directory {folder}"
    return DataError.of(Code.NO_SUCH_FILE, "the file does not exist", Place(path), hint)
