"""Fixtures for the tests of equality."""

from __future__ import annotations

from tests.cli.conftest import everlog_command
from tests.kb.test_store_updates import eager

__all__ = ["eager", "everlog_command"]
