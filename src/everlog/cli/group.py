"""The ``everlog`` command: finds the other commands by name and imports only the one that is run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from everlog import __version__
from everlog.settings import file_settings

COMMANDS = (
    *("check", "owl", "materialise", "update", "rules", "query", "explain", "sparql", "shell"),
    *("changes", "stats", "export", "violations", "verify", "compact", "vacuum", "repair"),
)
"""The commands in the order of the help; each is a module of this package."""

ALIASES: Mapping[str, str] = {"materialize": "materialise"}


class LazyGroup(click.Group):
    """A group whose commands are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"everlog.cli.{name}").command
        return found

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> click.Context:
        """A context that takes the defaults of every command from ``everlog.toml``."""
        values = file_settings()
        extra.setdefault("default_map", dict.fromkeys([*COMMANDS, *ALIASES], values))
        return super().make_context(info_name, args, *rest, **extra)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="everlog %(version)s")
def everlog() -> None:
    """Everlog keeps derived data true: rules and facts in, everything that follows out.

    Options may also be set in the environment (--on-error as EVERLOG_ON_ERROR) and in an
    everlog.toml in this directory or above it. Exit status: 0 done, 1 the data or the rules are
    wrong, 2 wrong usage.
    """
