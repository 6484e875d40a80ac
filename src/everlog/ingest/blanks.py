"""The nodes of a store that are meant by blank nodes of facts to delete.

A blank node is identified by the name of its source and its label, so a file names the nodes that came from a source
of the same name. It may also name any node by the label that the store shows for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.ingest.rdf import blank_prefix
from everlog.ingest.split import Split
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic, Place

MOST_SHOWN = 5
"""Maximum number of blank nodes that an error names."""

PREFIX = len(blank_prefix(""))
"""Characters of the prefix of a blank node."""

HINT = (
    "give --source NAME with the name that the file was loaded under (by default its path below the argument), "
    "or write the labels that the store has, as `everlog query` and `everlog export` show them, in N-Triples or N-Quads"
)


@dataclass(frozen=True)
class StoredBlanks:
    """Finds blank nodes by the label that the store shows, if their source's name does not find them. ``paths`` are
    the files by the prefix of their nodes.
    """

    dictionary: Dictionary
    paths: dict[str, str]
    required: bool = True
    """Whether a node that is not found is an error; otherwise its facts are left out."""
    missing: set[str] = field(default_factory=set)
    """The nodes that were not found, where that is an error."""

    @classmethod
    def of(cls, dictionary: Dictionary, parts: Iterable[Split], on_error: str) -> StoredBlanks:
        """The finder for facts that were read from some splits."""
        paths = {blank_prefix(part.source.name): part.shown for part in parts}
        return cls(dictionary, paths, on_error == "stop")

    def found(self, texts: pa.LargeStringArray, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ids of terms, -1 for unknown ones; blank nodes that the store knows by label are found."""
        blank = pc.starts_with(texts, "_:").to_numpy(zero_copy_only=False)
        missing = np.flatnonzero((ids < 0) & blank)
        if not len(missing):
            return ids
        wanted = texts.take(pa.array(missing))
        labels = pc.utf8_replace_slice(wanted, 0, PREFIX, "_:")
        stored = self.dictionary.lookup(labels)
        if self.required:
            self.missing.update(wanted.filter(pa.array(stored < 0)).to_pylist())
        ids = ids.copy()
        ids[missing] = stored
        return ids

    def refuse_missing(self) -> None:
        """Raise an error if required nodes were not found."""
        if self.missing:
            raise unknown_blanks(sorted(self.missing), self.paths)


def unknown_blanks(texts: Sequence[str], paths: Mapping[str, str], total: int | None = None) -> DataError:
    """The error for blank nodes that are not found; ``total`` is their number if ``texts`` has only some of them."""
    by_file: dict[str | None, list[str]] = {}
    for text in sorted(texts):
        by_file.setdefault(paths.get(text[:PREFIX]), []).append(_shown(text))
    problems: list[Diagnostic] = []
    for path, labels in by_file.items():
        others = len(labels) - MOST_SHOWN + max(0, (total or 0) - len(texts)) * (not problems)
        more = f" and {others:,} more" if others > 0 else ""
        shown = ", ".join(labels[:MOST_SHOWN]) + more
        message = f"facts to delete have blank nodes that the store does not know: {shown}"
        problems.append(Diagnostic(Code.UNKNOWN_BLANK_NODES, message, Place(path) if path else None, HINT))
    return DataError(problems)


def _shown(text: str) -> str:
    """A blank node as it is written in its file.

    >>> _shown(blank_prefix("x.nt") + "b"), _shown(blank_prefix("x.ttl") + "-0")
    ('_:b', 'an unlabelled node (1)')
    """
    label = text[PREFIX:]
    return f"an unlabelled node ({int(label[1:]) + 1})" if label.startswith("-") else f"_:{label}"
