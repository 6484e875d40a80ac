"""Fact files into a dictionary and facts over it, read by this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.ingest.columns import Headers
from everlog.ingest.facts import read_facts
from everlog.ingest.named import named_predicates, with_empty
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow
from everlog.ingest.splits import splits
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, Place, warn
from everlog.lang.kinds import Kinds
from everlog.lang.syntax import Predicate

MOST_SHOWN = 10
"""Maximum number of bad rows that a warning shows."""


@dataclass(frozen=True)
class FilesRead:
    """The facts of files, how many rows they were, and what warnings about them need."""

    rows: int
    facts: FactSet
    kinds: Mapping[Predicate, Kinds]
    """The kinds of the columns of each predicate, those of empty files among them."""
    named: Mapping[Predicate, Place]
    """The predicates whose names the user has written, by a name or that of a file, and where."""
    prefixes: Mapping[str, str]
    """The prefixes that the files declare."""


def read_files(
    argument: str, options: ReadOptions, dictionary: Dictionary, headers: Headers, on_error: str = "stop"
) -> FilesRead:
    """The facts of ``[NAME=]PATH[COLUMN, ...]``; ``headers`` are the columns of known predicates.

    Bad rows are an error, or with ``on_error="skip"`` left out with a warning.
    """
    with TemporaryDirectory(prefix="everlog-") as work:
        sources = resolve((argument,), options, Path(work))
        parts = splits(sources, options, headers=headers)
        for warning in merged_graphs(parts, options):
            warn(warning)
        read = read_facts(parts, options, dictionary, on_error=on_error)
        named, prefixes = named_predicates(sources, parts, options), declared_prefixes(sources)
    if read.bad_count:
        warn(_skipped(argument, read.bad, read.bad_count))
    return FilesRead(read.rows, read.facts, with_empty(read.kinds, named), named, prefixes)


def _skipped(argument: str, bad: Sequence[BadRow], count: int) -> Diagnostic:
    notes = tuple((row.reason, row.place) for row in bad[:MOST_SHOWN])
    rows = "1 bad row" if count == 1 else f"{count:,} bad rows"
    return Diagnostic(Code.SKIPPED_ROWS, f"{rows} of {argument} left out", None, None, notes, Severity.WARNING)
