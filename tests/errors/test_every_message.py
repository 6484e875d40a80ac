"""Every message in the source is in a golden text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from everlog.ingest.delimited import REASONS
from everlog.lang.codes import Code
from everlog.lang.foreign import HINTS
from tests.errors.sites import Module, Site, modules

HERE = Path(__file__).parent
GOLDEN = [*sorted((HERE / "cases").glob("*.txt")), *sorted((HERE.parent / "cases" / "errors").glob("*/expected.txt"))]

NOT_FOR_USERS: Mapping[str, tuple[str, ...]] = {
    "Python asks for attributes that are not there": ("module 'everlog' has no attribute ...",),
    "no error: what `everlog check` says of rules that are no module": (
        "symmetry and transitivity do not go together with linear rules",
        "linear rules do not go together with symmetry, nor with transitivity written in other ways",
        "without symmetry this is not transitivity",
        "left-linear and right-linear rules do not go together",
    ),
    "a mistake of the code that calls, which no input leads to": (
        "expected an array of strings, got ...",
        "facts with ... arguments where at most ... were announced",
        "the last attempt has no budget",
        "numbers over different bases cannot be compared",
        "a plan of the kind ... is not closed at once",
        "... ids of new facts are not among the terms; the first is ...",
    ),
    "caught where it is raised, and said in other words": (
        "versions count from 0",
        "the log cannot be read: ...",
    ),
    "caught: the snapshot is made again, and the log says why, see tests/store/test_damaged_snapshots.py": (
        "it has format ..., not ...",
        "offsets of texts are out of bounds",
        "a place belongs to part ... of predicate ...",
        "there are no keys ... to ... in layer ...",
        "... words are no keys of ... words",
        "keys ... to ... in layer ... have ids that are no terms",
        "there are no weights ... to ... in layer ...",
    ),
    "caught: a filter that cannot be read rules nothing out": (
        "no header of a Bloom filter",
        "the header of a Bloom filter has no size",
        "a Bloom filter of another kind than split blocks, xxHash and no compression",
        "a Bloom filter of ... bytes, of which there are ...",
    ),
    "caught: the update is done in another way, which the log says": (
        "everything would be derived again",
        "more than ... facts would be held",
        "more than ... terms would be held",
        "modules and rules depend on each other",
        "all derivations would be counted",
        "more than ... rows would be read",
        "not by look-ups: the change is large, or everything is to be derived again",
        "not by look-ups: the classes of equal terms depend on all facts",
        "not by look-ups: rules are matched against whole relations",
        "about ... of memory needed",
        "not in one task: ... rows",
    ),
    "part of another message: not allowed while ..., no space left while ...": (
        "committing",
        "reading a data file",
    ),
    "no text that rdflib reads leads here, as far as is known": (
        "the term ...",
        "the expression ...",
        "this is not a query: ...",
    ),
    "it takes two billion solutions of one answer": ("one answer has more than ... solutions",),
    "no error: what `everlog repair` says of a file that it moves": ("... names a checkpoint that cannot be used",),
    "it takes a file of more than 131,072 rows, see tests/store/test_blooms.py": (
        "has Bloom filters that are not as they were written",
    ),
    "a disk that fails, see tests/store/test_commit.py": (
        "version ... is committed, but a power cut may take it back: ...",
    ),
    "the check of what writers hand to a commit, see tests/store/test_commit.py": (
        "... cannot be committed: ...",
        "it has ... bytes, not ...",
        "it has ... rows, not ...",
        "its statistics are ..., not ...",
        "its columns are ..., not ...",
        "the new files lack the table's columns ...",
        "it is not a plain name of a Parquet file",
        "the table already has it",
        "it is to be removed but the table does not have it",
        "it is not a Parquet file: ...",
        "column ... has no statistics",
        "column ... has ... nulls and must have none",
        "column ... has no smallest and largest value",
        "column ... of the table is ..., not ...",
        "row ... with key ... ...; rows must be sorted and distinct",
        "term ... comes twice",
        "column ... has nulls and must have none",
        "this transaction is over",
        "begin another one",
        "... is outside the transaction's directory",
    ),
}
"""Texts without a golden case, by the reason why users never see them or why a test cannot provoke them."""

NOT_IN_A_GOLDEN_TEXT = frozenset(
    {
        ("error", Code.BAD_FILE),
        ("error", Code.TRANSACTION_OVER),
        ("error", Code.UNKNOWN_IDS),
        ("error", Code.TOO_MANY_SOLUTIONS),
        ("warning", Code.NOT_DURABLE),
        # as warnings see tests/kb/test_warnings.py
        ("warning", Code.UNKNOWN_PREDICATE),
        ("warning", Code.ARITY),
    }
)
"""Codes without a golden case, for the reasons above."""

EXCEPTED = frozenset(text for texts in NOT_FOR_USERS.values() for text in texts)


@pytest.fixture(scope="module")
def golden() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in GOLDEN)


@pytest.fixture(scope="module")
def source() -> list[Module]:
    return modules()


@pytest.fixture(scope="module")
def sites(source: list[Module]) -> list[Site]:
    return [site for module in source for site in module.sites()]


def test_every_message_has_a_golden_text(sites: list[Site], golden: str) -> None:
    missing = [str(site) for site in sites if site.text not in EXCEPTED and not site.said_in(golden)]
    assert not missing, "add a case to tests/errors/cases for\n" + "\n".join(missing)


def test_every_message_has_a_code_that_can_be_seen(source: list[Module], sites: list[Site]) -> None:
    assert sites
    assert not [call for module in source for call in module.unnamed]


def test_every_code_is_used(sites: list[Site]) -> None:
    assert set(Code) == {site.what for site in sites if isinstance(site.what, Code)}


def test_no_code_is_compared_with_a_text(source: list[Module]) -> None:
    found = [
        f"{module.file}:{node.lineno}"
        for module in source
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "code"
        and any(isinstance(each, ast.Constant) for each in node.comparators)
    ]
    assert not found


def test_severities_are_those_of_the_registry(golden: str) -> None:
    shown = set(re.findall(r"(error|warning|note)\[([a-z0-9-]+)\]: ", golden))
    assert shown | NOT_IN_A_GOLDEN_TEXT == {(level, code) for code in Code for level in code.severities}
    assert not shown & NOT_IN_A_GOLDEN_TEXT


@pytest.mark.parametrize("text", [*HINTS.values(), *REASONS.values()])
def test_every_text_of_a_table_has_a_golden_text(text: str, golden: str) -> None:
    assert text in golden


def test_exceptions_are_needed(sites: list[Site], golden: str) -> None:
    texts = {site.text for site in sites if not site.said_in(golden)}
    assert texts >= EXCEPTED, sorted(EXCEPTED - texts)
