"""Options that several commands share, made from the settings."""

from __future__ import annotations

import datetime
import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from everlog.cli.console import Console
from everlog.cli.terminal import echo
from everlog.host.memory import bytes_of
from everlog.settings import SETTINGS, Setting

if TYPE_CHECKING:
    from everlog.ingest.split import BadRow
    from everlog.store import Version

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def together(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Combine several options into one decorator; the help lists them in this order."""
    return lambda function: functools.reduce(lambda made, decorate: decorate(made), reversed(decorators), function)


def setting(*names: str) -> Decorator[Any]:
    """Options for settings: the flag takes precedence over the environment, ``everlog.toml`` and the default."""
    return together(*(_option(SETTINGS[name]) for name in names))


def _option(found: Setting) -> Decorator[Any]:
    common: dict[str, Any] = {"envvar": found.variable, "help": found.help}
    if found.kind is bool:
        return click.option(f"--{found.name}", is_flag=True, default=found.default, **common)
    kind: Any = found.kind
    if found.choices:
        kind = click.Choice(found.choices)
    elif found.least is not None:
        kind = click.IntRange(int(found.least)) if found.kind is int else click.FloatRange(found.least)
    shown = found.default is not None
    return click.option(
        f"--{found.name}", type=kind, default=found.default, show_default=shown, metavar=found.metavar, **common
    )


def logging_options(function: F) -> F:
    """``--quiet`` and ``--json-logs``; the command gets the console, whose display they choose. ``--warnings`` is
    used, too, if the command has it.
    """

    @click.pass_obj
    @functools.wraps(function)
    def command(console: Console, /, *, quiet: bool, json_logs: bool, warnings: str = "show", **options: Any) -> None:
        console.configure(quiet, json_logs, warnings)
        function(console, **options)

    return setting("quiet", "json-logs")(command)


def limit_options(function: F) -> F:
    """``--max-facts``, ``--timeout`` and ``--memory``; the command gets ``limits``, the options of a knowledge base."""

    @functools.wraps(function)
    def command(
        *arguments: Any, max_facts: int | None, timeout: float | None, memory: str | None, **options: Any
    ) -> None:
        limits = {"max_facts": max_facts, "timeout": timeout, "max_memory": bytes_of(memory)}
        function(*arguments, limits=limits, **options)

    return setting("max-facts", "timeout", "memory")(command)


store_argument = click.argument("store", metavar="STORE", type=click.Path())


def version_or_time(text: str) -> Version:
    """A version by its number, or a time in ISO 8601.

    >>> version_or_time("3"), version_or_time("2026-11-18T13:00Z").minute
    (3, 0)
    """
    try:
        return int(text) if text.isdecimal() else datetime.datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is neither a version nor a time such as 2026-11-18T13:00"
        raise click.BadParameter(message) from None


at_option = click.option(
    "--at",
    type=version_or_time,
    metavar="VERSION|TIME",
    help="Read this version, or the newest one committed by this time, instead of the newest.",
)

answer_options = together(
    at_option,
    click.option(
        "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write to a file instead of stdout."
    ),
)
"""``--at`` and ``--output``, of the commands that answer from one version."""


def report_skipped(bad: Sequence[BadRow], count: int) -> None:
    """List on stderr the rows that were left out."""
    for row in bad:
        echo(f"skipped {row.place}: {row.reason}", err=True)
    if count > len(bad):
        echo(f"skipped {count - len(bad):,} more rows", err=True)


def spark_options(function: F) -> F:
    """``--master``, ``--spark-memory`` and ``--spark-log``; the last two become environment variables."""

    @functools.wraps(function)
    def command(*arguments: Any, spark_memory: str | None, spark_log: str | None, **options: Any) -> None:
        for name, value in (("spark-memory", spark_memory), ("spark-log", spark_log)):
            if value is not None:
                os.environ[SETTINGS[name].variable] = value
        function(*arguments, **options)

    return setting("master", "spark-memory", "spark-log")(command)


def refuse_terminal(form: str, output: str | None) -> None:
    """Raise an error of usage if a binary format would be written to a terminal."""
    if form in ("parquet", "arrow") and output is None and sys.stdout.isatty():
        raise click.UsageError(f"{form} is no format for a terminal: add --output FILE, or redirect stdout")
