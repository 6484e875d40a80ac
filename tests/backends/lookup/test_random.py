"""Random programs and sequences of updates: a store that is updated by what that looks up has the same rows as one
that the local engine updates."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.backends.too_much import GivenUp
from everlog.kb.stores import open as open_store
from everlog.lang.errors import EverlogError
from everlog.lang.terms import value_of
from everlog.reasoning.update import Algorithm
from everlog.settings import EXPAND_BELOW
from everlog.store import Store, VersionInfo
from tests.backends.lookup.changing import looked_up, rows_in
from tests.backends.spark.test_groups import regrouped
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base
from tests.strategies import cases, graph_cases, updates

REASONS = (
    "everything would be derived again",
    "modules and rules depend on each other",
    "all derivations would be counted",
)
SHARED = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=60, suppress_health_check=SHARED)
@given(st.data())
def test_random_updates(data: st.DataObject) -> None:
    check(data)


@pytest.mark.slow
@settings(max_examples=1_500, suppress_health_check=SHARED)
@given(st.data())
def test_many_random_updates(data: st.DataObject) -> None:
    check(data)


def check(data: st.DataObject) -> None:
    case = data.draw(st.one_of(cases(), graph_cases()))
    changes = data.draw(updates(case))
    options: dict[str, Any] = {"modules": data.draw(st.booleans())}
    options["maintain"] = data.draw(st.sampled_from(["dredc", "dredc", "none"]))
    listed = data.draw(st.sampled_from([EXPAND_BELOW, EXPAND_BELOW, 0, 3]))
    with tempfile.TemporaryDirectory() as name:
        here, there = Path(name) / "here", Path(name) / "there"
        for store in (here, there):
            knowledge_base(case.program, case.facts, **options).save(store, expand_below=listed)
        rows = data.draw(st.integers(1, 4))
        for change in changes:
            regrouped(there, rows)
            algorithm: Algorithm = data.draw(st.sampled_from(["dredc", "bfc", "dred", "fbf", "auto"]))
            try:
                found = looked_up(there, change.delete, change.insert, algorithm=algorithm)
            except EverlogError as error:
                if error.diagnostics[0].code == "not-listed":
                    return
                raise
            if isinstance(found, GivenUp):
                assert found.reason in REASONS, found.reason
                return
            kb = open_store(here)
            local = kb.update(insert=given_rows(change.insert), delete=given_rows(change.delete), algorithm=algorithm)
            kb.save()
            assert rows_in(there) == rows_in(here)
            for side in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
                assert getattr(found, side) == {p: len(rows) for p, rows in getattr(local, side).items()}
            assert found.not_explicit == local.not_explicit
            versions = [Store.open(store).info() for store in (here, there)]
            assert said(versions[0]) == said(versions[1])


def said(version: VersionInfo) -> dict[str, Any]:
    """What a version says of itself, as far as it is the same whoever made it."""
    figures = {name: version.statistics[name] for name in ("facts", "explicit", "derived", "listed")}
    return {"version": version.version, "bookkeeping": version.bookkeeping, **figures}


def given_rows(facts: Iterable[Fact]) -> dict[Any, list[tuple[Any, ...]]]:
    """Facts as the public interface takes them."""
    return {(p.name, p.arity): [tuple(map(value_of, row)) for row in rows] for p, rows in naive.grouped(facts).items()}
