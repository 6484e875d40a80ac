"""How failures of files and Delta become errors for the person who has to fix them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from deltalake.exceptions import DeltaError

from everlog.host.system_errors import system_error
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import AnotherWriterError, DamagedLogError, Diagnostic, EverlogError, Place, StoreError, warn

_TYPES: Mapping[Code, type[StoreError]] = {
    Code.ANOTHER_WRITER: AnotherWriterError,
    Code.DAMAGED_LOG: DamagedLogError,
}
"""The codes whose errors are caught as a type of their own."""


def store_error(code: Code, message: str, where: Path | str | None = None, hint: str | None = None) -> StoreError:
    """A :class:`StoreError` with one diagnostic, of the type that belongs to the code.

    >>> print(store_error(Code.NOT_A_STORE, "no facts table", "kb", "run everlog materialise"))
    error[not-a-store]: no facts table
      --> kb
      = help: run everlog materialise
    """
    place = None if where is None else Place(str(where))
    return _TYPES.get(code, StoreError).of(code, message, place, hint)


@contextmanager
def file_errors(doing: str, where: Path) -> Iterator[None]:
    """Turn an operating-system error while ``doing`` something into a StoreError that names it."""
    try:
        yield
    except OSError as error:
        raise os_error(error, doing, where) from error


def os_error(error: OSError, doing: str, where: Path) -> StoreError:
    """The StoreError for an operating-system error, which leaves the store as before."""
    found = system_error(error, doing, where)
    return StoreError(replace(found, hint=f"{found.hint}; the store is as before"))


@contextmanager
def after_commit(
    version: int, doing: str, where: Path | str, warning: Callable[[Diagnostic], None] = warn
) -> Iterator[None]:
    """Turn a failure after a version was committed into a warning that names the version, since the change is made.

    >>> with after_commit(3, "compacting", "kb", print):
    ...     raise OSError("the disk is on fire")
    warning[after-commit]: version 3 is committed, but compacting failed: the disk is on fire
      --> kb
      = help: the change is made and whole, do not make it again; everlog verify says whether all is well
    """
    try:
        yield
    except (EverlogError, DeltaError, pa.ArrowException, OSError, MemoryError) as error:
        cause = error.diagnostics[0].message if isinstance(error, EverlogError) else first_line(error)
        message = f"version {version} is committed, but {doing} failed: {cause}"
        hint = "the change is made and whole, do not make it again; everlog verify says whether all is well"
        warning(Diagnostic(Code.AFTER_COMMIT, message, Place(str(where)), hint, severity=Severity.WARNING))


def first_line(error: Exception) -> str:
    """The message of a library, without the trace that delta-rs writes below it."""
    return next(iter(str(error).splitlines()), type(error).__name__)
