"""Completion of commands, options and paths in bash, zsh and fish.

Click writes the scripts (``_EVERLOG_COMPLETE=bash_source everlog``) and finds what a word may become; the scripts ask
with the same variable. Bash splits words at ``=`` and ``:``, which are parts of ``NAME=PATH``, ``--option=value`` and
addresses.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
from click.shell_completion import BashComplete, add_completion_class, shell_complete

VARIABLE = "_EVERLOG_COMPLETE"
"""The environment variable by which a shell requests completions, or a user the script for a shell."""


@add_completion_class
class Bash(BashComplete):
    """Completion for bash, which joins the parts of words that bash has split."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        *whole, last = rejoined([*args, incomplete])
        return whole, last


def rejoined(words: Sequence[str]) -> list[str]:
    """The words of a command line that bash has split at ``=`` and ``:``.

    >>> rejoined(["update", "kb", "--insert", "edge", "=", "s3", ":", "//bucket/e", "--engine", "="])
    ['update', 'kb', '--insert', 'edge=s3://bucket/e', '--engine=']
    """
    whole: list[str] = []
    joined = False
    for word in words:
        is_sign = word in ("=", ":")
        if whole and (is_sign or joined):
            whole[-1] += word
        else:
            whole.append(word)
        joined = is_sign
    return whole


def complete(command: click.Command) -> int | None:
    """Answer a request of a shell for completions, and return the exit status; None if there is no request."""
    instruction = os.environ.get(VARIABLE)
    return None if instruction is None else shell_complete(command, {}, "everlog", VARIABLE, instruction)
