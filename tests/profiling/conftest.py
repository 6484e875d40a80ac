"""Fixtures for the tests of profiles."""

from tests.cli.conftest import everlog_command

__all__ = ["everlog_command"]
