"""Programs with facts and changes of them that all back ends have to support, each with predicates of its own.

They are combined to one program for back ends for which a job of any size takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from everlog.ingest.rdf import blank_prefix
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.owl.equality import equality_rules
from everlog.owl.vocabulary import SAME
from tests.backends.choosing import SOURCE
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.strategies import CONSTANTS, Change

BLANK = blank_prefix(SOURCE)


@dataclass(frozen=True)
class Situation:
    """A program, facts from files, and changes of them; the last change is not undone by any other."""

    program: Program
    facts: frozenset[Fact]
    changes: tuple[Change, ...]

    @property
    def explicit(self) -> frozenset[Fact]:
        """The explicit facts of the first version."""
        return self.facts | naive.explicit(self.program)


def facts(predicate: str, *rows: str) -> frozenset[Fact]:
    """Facts of a bare name, from rows whose arguments are separated by spaces."""
    return frozenset((Predicate(predicate, len(row.split())), tuple(map(_text, row.split()))) for row in rows)


def _text(name: str) -> str:
    return name if name[0] in '"<_' or name[0].isdigit() else f'"{name}"'


NEGATION_AND_RECURSION = Situation(
    parse_program(
        """
        path(?x, ?y) :- edge(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        loop(?x) :- path(?x, ?x) .
        end(?x) :- edge(_, ?x), ~edge(?x, _) .
        way(?x) :- node(?x), ~loop(?x), ~end(?x) .
        way(?y) :- way(?x), path(?x, ?y), ~loop(?y) .
        some() :- way(?x), ~path(?x, _) .
        none() :- node(_), ~some() .
        """
    ),
    facts("edge", "1 2", "2 3", "3 1", "3 4", "4 5", "6 7") | facts("node", "1", "4", "6"),
    (
        Change(facts("edge", "2 5", "7 1"), facts("edge", "3 1", "9 9")),
        Change(facts("edge", "3 1") | facts("path", "7 7"), facts("edge", "2 5", "6 7") | facts("node", "1")),
    ),
)
CLOSURES = Situation(
    parse_program(
        """
        above(?x, ?y) :- boss(?x, ?y) .
        above(?x, ?z) :- above(?x, ?y), boss(?y, ?z) .
        same(?x, ?y) :- twin(?x, ?y) .
        same(?y, ?x) :- same(?x, ?y) .
        same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
        apart(?x, ?y) :- above(?x, ?y), ~boss(?x, ?y), ~same(?x, ?y) .
        boss(head, a) .
        """
    ),
    facts("boss", "a b", "b c", "c d", "d e") | facts("twin", "a c", "c e", "x y") | facts("above", "e f", "b d"),
    (
        Change(facts("boss", "d a", "f g"), facts("boss", "b c") | facts("twin", "c e") | facts("above", "e f")),
        Change(
            facts("twin", "c e", "e x") | facts("boss", "b c"), facts("boss", "d a", "head a") | facts("twin", "x y")
        ),
    ),
)
EXPLICIT_AND_DERIVED = Situation(
    parse_program("p(?x) :- q(?x) . r(?x) :- p(?x), ~s(?x) . t(?y) :- t(?x), next(?x, ?y) . t(?x) :- p(?x) ."),
    facts("q", "a", "b") | facts("p", "b", "c") | facts("s", "b") | facts("next", "a b", "b a", "c d"),
    (
        Change(facts("p", "a"), facts("p", "b") | facts("r", "a", "c") | facts("t", "d") | facts("q", "z")),
        Change(facts("p", "b") | facts("s", "c"), facts("p", "a", "b") | facts("q", "a")),
    ),
)
"""Facts that are explicit and derived lose one of the two; a fact that is only derived cannot be deleted."""

KINDS = tuple(text for text in CONSTANTS if not text.startswith("_:"))
ALL_KINDS = Situation(
    parse_program(
        """
        kind(?x, ?y) :- has(?x, ?y), ~lacks(?y) .
        both(?y) :- has(?x, ?y), has(?z, ?y), first(?x), second(?z) .
        one(1) :- has(_, 1) . one(1.0) :- has(_, 1.0) . one("1") :- has(_, "1") . one("a"@en) :- has(_, "a"@en) .
        """
    ),
    frozenset((Predicate("has", 2), (first, text)) for text in KINDS for first in ('"a"', "1"))
    | facts("first", "a")
    | facts("second", "1"),
    (
        Change(facts("lacks", '"1"'), frozenset({(Predicate("has", 2), ("1", "1.0"))})),
        Change(
            frozenset({(Predicate("has", 2), ("true", text)) for text in KINDS}),
            frozenset({(Predicate("has", 2), (first, '"a"@en')) for first in ('"a"', "1")}) | facts("first", "a"),
        ),
    ),
)
WIDE = Situation(
    parse_program(
        """
        six(?a, ?b, ?c, ?d, ?e, ?f) :- five(?a, ?b, ?c, ?d, ?e), five(?b, ?c, ?d, ?e, ?f) .
        six(?b, ?c, ?d, ?e, ?f, ?a) :- six(?a, ?b, ?c, ?d, ?e, ?f), turn(?a) .
        seen(?a, ?f) :- six(?a, _, ?c, ?c, _, ?f), ~five(?a, _, _, _, ?f) .
        """
    ),
    facts("five", "a b c c d", "b c c d e", "c c d e f", "a b c c e") | facts("turn", "a", "b"),
    (
        Change(facts("five", "c d e f a", "d e f a b"), facts("five", "a b c c e")),
        Change(facts("turn", "c"), facts("five", "b c c d e") | facts("turn", "a")),
    ),
)


def _blanks(predicate: str, *rows: str) -> frozenset[Fact]:
    """Triples whose terms of one letter are blank nodes."""
    terms = [tuple(f"{BLANK}{t}" if len(t) == 1 else f"<x:{t}>" for t in row.split()) for row in rows]
    return frozenset((Predicate(f"<x:{predicate}>", len(row)), row) for row in terms)


BLANKS = Situation(
    parse_program("known(?x) :- <x:p>(?y, ?x), ~<x:q>(?y, ?x) . <x:r>(?x, ?z) :- <x:p>(?x, ?y), <x:q>(?y, ?z) ."),
    _blanks("p", "aa b", "aa c", "d b") | _blanks("q", "b c", "d c") | _blanks("Class", "b", "aa"),
    (
        Change(_blanks("p", "c d", "c new"), _blanks("p", "aa b") | _blanks("Class", "b")),
        Change(_blanks("q", "c e", "aa c"), _blanks("q", "b c", "d c", "b d")),
    ),
)
EQUALITY = equality_rules([Predicate(SAME, 2), *(Predicate(name, 2) for name in ("mother", "aunt", "cousin"))])
EQUALS = Situation(
    Program(
        (
            *parse_program(
                f"{SAME}(?y, ?z) :- mother(?x, ?y), mother(?x, ?z) . cousin(?x, ?y) :- aunt(?x, ?z), mother(?y, ?z) ."
            ).rules,
            *EQUALITY,
        )
    ),
    facts("mother", "ann eve", "ann eva", "bob eva") | facts("aunt", "cid eve"),
    (
        Change(facts("mother", "bob evi"), facts("mother", "ann eve")),
        Change(facts("mother", "ann eve") | facts("aunt", "evi ann"), facts("mother", "bob evi")),
    ),
)
ENTANGLED = Situation(
    parse_program(
        "reach(?x, ?y) :- link(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z) . "
        "link(?x, ?y) :- reach(?x, ?y), jump(?y) ."
    ),
    facts("link", "a b", "b c") | facts("jump", "c"),
    (Change(facts("link", "c d"), facts("link", "a b")), Change(facts("link", "a b"), facts("jump", "c"))),
)
"""A closure whose edges are derived from the closure."""


def combined(situations: Iterable[Situation]) -> Situation:
    """Combine several situations to one, whose changes are those of all of them at once."""
    found = list(situations)
    steps = zip(*(situation.changes for situation in found), strict=True)
    changes = (Change(*(frozenset().union(*each) for each in zip(*map(_sides, step), strict=True))) for step in steps)
    rules = tuple(rule for situation in found for rule in situation.program.rules)
    written = tuple(fact for situation in found for fact in situation.program.facts)
    return Situation(Program(rules, written), frozenset().union(*(each.facts for each in found)), tuple(changes))


def _sides(change: Change) -> tuple[frozenset[Fact], frozenset[Fact]]:
    return change.insert, change.delete


def undone(situation: Situation) -> Situation:
    """The changes, and then as many that lead back to the explicit facts of the first version."""
    explicit, back = situation.explicit, []
    for change in situation.changes:
        after = (explicit - change.delete) | change.insert
        back.append(Change(explicit - after, after - explicit))
        explicit = after
    return replace(situation, changes=(*situation.changes, *reversed(back)))


UNRELATED = Situation(Program(()), facts("other", *map(str, range(300))), (Change(frozenset(), frozenset()),) * 2)
"""Enough facts to make the changes of all situations small: large changes may derive everything again."""

EVERYTHING = combined([NEGATION_AND_RECURSION, CLOSURES, EXPLICIT_AND_DERIVED, ALL_KINDS, WIDE, BLANKS, UNRELATED])
"""The situations that all back ends support, as one."""

A_LITTLE = Situation(
    parse_program(
        """
        above(?x, ?y) :- boss(?x, ?y) .
        above(?x, ?z) :- above(?x, ?y), above(?y, ?z) .
        top(?x) :- boss(?x, _), ~boss(_, ?x) .
        met(?y) :- met(?x), <x:knows>(?x, ?y) .
        """
    ),
    facts("boss", "a b", "b c", "c d") | facts("top", "d") | facts("met", "1", "<x:ann>") | _blanks("knows", "ann b"),
    (
        Change(
            facts("boss", "e a") | facts("above", "a b", "d 1.5") | _blanks("knows", "b new"),
            facts("boss", "b c", "c a") | facts("top", "a", "d"),
        ),
    ),
)
"""A small situation for back ends that take seconds for each rule: a closure, negation, recursion, and all changes."""
