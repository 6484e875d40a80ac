"""The command line, as the tests of commands have it."""

from tests.cli.conftest import everlog_command

__all__ = ["everlog_command"]
