"""Random stratified programs with data, for hypothesis.

Stratifiable by construction: each predicate has a level, a rule's positive atoms have at most the
level of its head and its negative atoms less. Everything is drawn as small integers and lists, so
a failing case shrinks to few predicates, rules and facts over the first constants of the pool.

Domains are tiny, so that joins, duplicates and deletions collide. ``cases`` draws
arbitrary rules; ``graph_cases`` draws recursions that go many rounds deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from hypothesis import strategies as st

from everlog.lang.syntax import Atom, Constant, Predicate, Program, Query, Rule, Term, Variable, Wildcard
from everlog.lang.terms import XSD
from tests.oracle.naive import Fact, Row

Element = TypeVar("Element")

CONSTANTS = (
    '"a"',
    '"b"',
    "1",
    '"1"',
    "1.0",
    "1.0E0",
    "<http://example.org/a>",
    '"a"@en',
    "true",
    '"true"',
    "_:b",
    '""',
    f'"007"^^<{XSD}integer>',
    '"two words, ünïcode"',
    "-12345678901234567890",
)
"""Constants that other systems confuse: one lexical form as several kinds, and unusual strings."""

ARITIES = (2, 1, 2, 3, 0, 2, 1, 4)
SHARED_IRI = "<http://example.org/p>"
"""A predicate name that may be used with several arities, as only IRIs may."""
VARIABLES = tuple(map(Variable, "xyzw"))
MAX_SLOTS = 5
"""Maximum number of variables and wildcards in a positive body: the oracle is a nested loop."""


@dataclass(frozen=True)
class Case:
    """A program, facts to insert in addition to its own, and the constants in them."""

    program: Program
    facts: frozenset[Fact]
    predicates: tuple[Predicate, ...]
    domain: tuple[str, ...]

    def __repr__(self) -> str:
        facts = [f"{predicate.name}({', '.join(row)})" for predicate, row in sorted(self.facts)]
        return "\n".join(["Case:", *map(show, self.program.rules), *map(_shown, self.program.facts), "with", *facts])


@dataclass(frozen=True)
class Change:
    """Explicit facts to delete and to insert in one update; a fact may be in both."""

    insert: frozenset[Fact]
    delete: frozenset[Fact]


def show(rule: Rule) -> str:
    """The text of the rule, without prefixes."""
    body = [*map(_shown, rule.positive), *("~" + _shown(atom) for atom in rule.negative)]
    return f"{_shown(rule.head)} :- {', '.join(body)} ."


def _shown(atom: Atom) -> str:
    def term(term: Term) -> str:
        match term:
            case Variable():
                return f"?{term.name}"
            case Constant():
                return term.text
            case Wildcard():
                return "_"

    return f"{atom.predicate.name}({', '.join(map(term, atom.terms))})"


@st.composite
def cases(draw: st.DrawFn, *, empty_bodies: bool = False, max_rules: int = 8, max_predicates: int = 6) -> Case:
    """Arbitrary rules over a few predicates; with ``empty_bodies`` also rules without any body atom."""
    predicates = draw(predicate_lists(max_predicates))
    levels = draw(st.tuples(*[st.integers(0, 2) for _ in predicates]))
    domain = draw(domains())
    rule = rules(predicates, levels, domain, empty_bodies=empty_bodies)
    drawn = dict.fromkeys(draw(lists(rule, min_size=1, max_size=max_rules)))
    program = Program(tuple(drawn), tuple(draw(lists(ground_atoms(predicates, domain), max_size=2))))
    return Case(program, frozenset(draw(fact_sets(predicates, domain))), predicates, domain)


def lists(
    elements: st.SearchStrategy[Element], *, min_size: int = 0, max_size: int
) -> st.SearchStrategy[list[Element]]:
    """Lists of uniformly distributed size; hypothesis' own lists are mostly short, and derive too little."""
    return st.integers(min_size, max_size).flatmap(lambda size: st.lists(elements, min_size=size, max_size=size))


def relations(predicate: Predicate, domain: Sequence[str]) -> st.SearchStrategy[list[Row]]:
    """Empty, sparse or dense relations: a bit for each row if these are few."""
    rows = list(product(domain, repeat=predicate.arity))
    if len(rows) > 16:
        return lists(st.sampled_from(rows), max_size=8)
    return st.integers(0, 2 ** len(rows) - 1).map(lambda bits: [row for i, row in enumerate(rows) if bits >> i & 1])


@st.composite
def predicate_lists(draw: st.DrawFn, max_size: int = 6) -> tuple[Predicate, ...]:
    """Predicates ``p0``, ``p1``, ..., some of which are the shared IRI at different arities."""
    found: list[Predicate] = [Predicate("p", 2)]
    for index, arity in enumerate(draw(lists(st.sampled_from(ARITIES), max_size=max_size - 1))):
        shared = Predicate(SHARED_IRI, arity)
        use_shared = shared not in found and draw(st.integers(0, 4)) == 4
        found.append(shared if use_shared else Predicate(f"p{index}", arity))
    return tuple(found)


def domains() -> st.SearchStrategy[tuple[str, ...]]:
    """One to four constants, mostly three."""
    return st.sampled_from([1, 2, 3, 3, 3, 4]).flatmap(
        lambda size: st.lists(st.sampled_from(CONSTANTS), min_size=size, max_size=size, unique=True).map(tuple)
    )


def rules(
    predicates: Sequence[Predicate], levels: Sequence[int], domain: Sequence[str], *, empty_bodies: bool = False
) -> st.SearchStrategy[Rule]:
    """Safe rules that keep the levels."""

    @st.composite
    def rule(draw: st.DrawFn) -> Rule:
        head, level = draw(st.sampled_from(list(zip(predicates, levels, strict=True))))
        at_most = [p for p, other in zip(predicates, levels, strict=True) if other <= level]
        below = [p for p, other in zip(predicates, levels, strict=True) if other < level]
        positive = _capped(draw(st.lists(atoms(at_most, body_terms(domain)), max_size=3)))
        bound = [variable for atom in positive for variable in atom.variables()]
        least = 0 if positive or empty_bodies else 1
        negative: list[Atom] = []
        if below:
            term = st.one_of(bound_terms(bound, domain), st.just(Wildcard()))
            negative = draw(st.lists(atoms(below, term), min_size=least, max_size=2))
        elif least:
            positive = [draw(atoms(at_most, body_terms(domain)))]
            bound = [variable for atom in positive for variable in atom.variables()]
        return Rule(draw(atoms([head], bound_terms(bound, domain))), tuple(positive), tuple(negative))

    return rule()


@st.composite
def queries(draw: st.DrawFn, predicates: Sequence[Predicate], domain: Sequence[str]) -> Query:
    """Safe conjunctive queries over the predicates, some of them without variables."""
    positive = _capped(draw(st.lists(atoms(predicates, body_terms(domain)), min_size=1, max_size=3)))
    bound = list(dict.fromkeys(variable for atom in positive for variable in atom.variables()))
    term = st.one_of(bound_terms(bound, domain), st.just(Wildcard()))
    negative = draw(st.lists(atoms(predicates, term), max_size=2))
    return Query(tuple(positive), tuple(negative), tuple(bound))


def _capped(body: Sequence[Atom]) -> list[Atom]:
    """The body with all except the first few variables and wildcards replaced by the first variable."""
    seen: set[Variable] = set()
    wildcards = 0
    capped = []
    for atom in body:
        terms: list[Term] = []
        for term in atom.terms:
            if isinstance(term, Constant) or term in seen:
                terms.append(term)
            elif len(seen) + wildcards >= MAX_SLOTS:
                terms.append(next(iter(sorted(seen, key=VARIABLES.index)), Constant(CONSTANTS[0])))
            else:
                if isinstance(term, Variable):
                    seen.add(term)
                else:
                    wildcards += 1
                terms.append(term)
        capped.append(Atom(atom.predicate, tuple(terms)))
    return capped


def atoms(predicates: Sequence[Predicate], terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Atom]:
    """Atoms over the predicates."""
    return st.sampled_from(list(predicates)).flatmap(
        lambda predicate: st.tuples(*[terms] * predicate.arity).map(lambda drawn: Atom(predicate, drawn))
    )


def body_terms(domain: Sequence[str]) -> st.SearchStrategy[Term]:
    """Mostly variables, so that atoms join."""
    common: list[Term] = [*VARIABLES, *VARIABLES[:3], *VARIABLES[:2]]
    return st.sampled_from([*common, Wildcard(), *map(Constant, domain[:2])])


def bound_terms(bound: Sequence[Variable], domain: Sequence[str]) -> st.SearchStrategy[Term]:
    """Variables bound by the positive body, or constants, some of them from outside the domain."""
    constants = st.sampled_from([*map(Constant, domain), Constant("42")])
    if not bound:
        return constants
    variables = st.sampled_from(sorted(set(bound), key=VARIABLES.index))
    return st.integers(0, 5).flatmap(lambda choice: constants if choice == 5 else variables)


def facts(predicates: Sequence[Predicate], domain: Sequence[str]) -> st.SearchStrategy[Fact]:
    """Facts over the domain."""
    return st.sampled_from(list(predicates)).flatmap(
        lambda predicate: st.tuples(*[st.sampled_from(list(domain))] * predicate.arity).map(
            lambda row: (predicate, row)
        )
    )


def ground_atoms(predicates: Sequence[Predicate], domain: Sequence[str]) -> st.SearchStrategy[Atom]:
    """Facts in the syntax of a program."""
    return facts(predicates, domain).map(lambda fact: Atom(fact[0], tuple(map(Constant, fact[1]))))


@st.composite
def fact_sets(draw: st.DrawFn, predicates: Sequence[Predicate], domain: Sequence[str]) -> set[Fact]:
    """Any facts over the predicates and the domain."""
    return {(predicate, row) for predicate in predicates for row in draw(relations(predicate, domain))}


@st.composite
def updates(draw: st.DrawFn, case: Case, max_size: int = 4) -> list[Change]:
    """A sequence of changes to the explicit facts; most deletions are of existing facts."""
    present = sorted({*case.facts, *((atom.predicate, _texts(atom)) for atom in case.program.facts)})
    fact = facts(case.predicates, case.domain)
    changes: list[Change] = []
    for _ in range(draw(st.integers(0, max_size))):
        known = st.one_of(st.sampled_from(present), fact) if present else fact
        insert = frozenset(draw(st.lists(fact, max_size=4)))
        delete = frozenset(draw(st.lists(known, max_size=4)))
        changes.append(Change(insert, delete))
        present = sorted((set(present) - delete) | insert)
    return changes


def _texts(atom: Atom) -> Row:
    return tuple(term.text for term in atom.terms if isinstance(term, Constant))


def _atom(text: str) -> Atom:
    """``path x z`` is path(?x, ?z), ``_`` the wildcard."""
    name, *arguments = text.split()
    terms: list[Term] = [Wildcard() if argument == "_" else Variable(argument) for argument in arguments]
    return Atom(Predicate(name, len(terms)), tuple(terms))


def rule_from(text: str) -> Rule:
    """``head <- atom, ~atom`` in the notation of :func:`_atom`."""
    head, _, body = text.partition(" <- ")
    written = body.split(", ")
    positive = tuple(_atom(atom) for atom in written if not atom.startswith("~"))
    return Rule(_atom(head), positive, tuple(_atom(atom[1:]) for atom in written if atom.startswith("~")))


RECURSIONS = (
    ("path x y <- edge x y", "path x z <- path x y, edge y z"),
    ("path x y <- edge x y", "path x z <- edge x y, path y z"),
    ("path x y <- edge x y", "path x z <- path x y, path y z"),
    ("path x y <- edge x y", "path x z <- path x y, path y w, path w z", "path x x <- mark x"),
    ("odd x y <- edge x y", "even x z <- odd x y, edge y z", "odd x z <- even x y, edge y z"),
    ("sg x y <- edge z x, edge z y", "sg x y <- edge v x, sg v w, edge w y"),
    ("rev x y <- path y x", "path x y <- rev y x, mark x", "path x y <- edge x y"),
    ("path3 x y z <- edge x y, edge y z", "path3 x z w <- path3 x y z, path3 y z w"),
    ("reach x <- mark x", "reach y <- reach x, edge x y"),
    ("some <- edge x x", "some <- path x x", "reach x <- some, edge x _"),
    ("way x y <- edge x y, ~mark y", "way x z <- way x y, edge y z, ~mark z"),
)
"""Recursive groups; each may be combined with any other."""

TOPS = (
    ("apart x y <- edge x _, edge _ y, ~path x y",),
    ("leaf x <- edge _ x, ~edge x _", "inner x <- edge x _, ~leaf x"),
    ("lost x <- edge x _, ~reach x", "found x <- lost x, ~apart x x", "found y <- found x, edge x y"),
    (
        "none x <- mark x, ~some",
        "quad x y z w <- edge x y, edge z w, ~sg x z",
        "quad x z y w <- quad x y z w, quad x x y z",
    ),
    ("pair x y <- odd x y, even x y, ~path3 x _ y", "pair x z <- pair x y, pair y z"),
    ("free x y <- edge x y, ~path x x", "free x z <- free x y, edge y z, ~reach y, ~way z x"),
)
"""Nonrecursive and recursive groups over negated recursions."""

EDGE, MARK = Predicate("edge", 2), Predicate("mark", 1)


@st.composite
def graph_cases(draw: st.DrawFn, max_nodes: int = 9) -> Case:
    """Several recursions and negations at once over one random graph, deep enough for many rounds."""
    groups = draw(st.lists(st.sampled_from(RECURSIONS), min_size=1, max_size=3, unique=True))
    groups += draw(st.lists(st.sampled_from(TOPS), max_size=2, unique=True))
    nodes = draw(st.integers(1, max_nodes))
    domain = tuple(str(node) for node in range(nodes))
    node = st.sampled_from(domain)
    chain = draw(st.integers(0, nodes - 1))
    edges = {(str(x), str(x + 1)) for x in range(chain)} | set(draw(st.lists(st.tuples(node, node), max_size=8)))
    marks = draw(st.lists(node, max_size=2))
    found = {(EDGE, edge) for edge in edges} | {(MARK, (mark,)) for mark in marks}
    written = tuple(dict.fromkeys(rule_from(text) for group in groups for text in group))
    predicates = tuple(sorted({atom.predicate for rule in written for atom in (rule.head, *rule.body)} | {EDGE, MARK}))
    return Case(Program(written), frozenset(found), predicates, domain)


def side_by_side(found: Sequence[Case]) -> Case:
    """Several programs with predicates of their own."""
    rules: list[Rule] = []
    written: list[Atom] = []
    facts: set[Fact] = set()
    predicates: list[Predicate] = []
    for number, case in enumerate(found):

        def own(predicate: Predicate, number: int = number) -> Predicate:
            name = predicate.name
            return replace(predicate, name=f"{name[:-1]}{number}>" if name[0] == "<" else f"{name}of{number}")

        def renamed(atom: Atom, own: Callable[[Predicate], Predicate] = own) -> Atom:
            return replace(atom, predicate=own(atom.predicate))

        for rule in case.program.rules:
            positive, negative = (tuple(map(renamed, atoms)) for atoms in (rule.positive, rule.negative))
            rules.append(Rule(renamed(rule.head), positive, negative))
        written += map(renamed, case.program.facts)
        facts |= {(own(p), row) for p, row in case.facts}
        predicates += map(own, case.predicates)
    domain = tuple(dict.fromkeys(text for case in found for text in case.domain))
    return Case(Program(tuple(rules), tuple(written)), frozenset(facts), tuple(predicates), domain)
