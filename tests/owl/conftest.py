"""Fixtures for the tests of ontologies."""

from __future__ import annotations

from tests.cli.conftest import everlog_command

__all__ = ["everlog_command"]
