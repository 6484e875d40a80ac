"""Similar names."""

from __future__ import annotations

import pytest

from everlog.analysis.names import closest, likely_typos


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("parnet", "parent", True),
        ("parent", "parents", True),
        ("parant", "parent", True),
        ("ancestr", "ancestor", True),
        ("<http://e.org/knwos>", "<http://e.org/knows>", True),
        ("<http://f.org/knows>", "<http://e.org/knows>", False),
        ("parent", "parent", False),
        ("mother", "father", False),
        ("edge1", "edge2", False),
        ("abc", "abd", False),
    ],
)
def test_typos(name: str, known: str, meant: bool) -> None:
    assert list(likely_typos([name], [known])) == ([(name, known)] if meant else [])


def test_closest_names_ignore_case_and_namespace() -> None:
    known = ["<http://e.org/Person>", "organisation", "<http://f.org/personal>"]
    assert closest("person", known)[0] == "<http://e.org/Person>"
    assert closest("zzz", known) == []
