"""The rules that modules take; modules and rewritten rules are equivalent to the original rules."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.modules.aliases import find_aliases
from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.modules.printing import print_module
from everlog.analysis.modules.words import Word, single, word
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_rule
from everlog.lang.syntax import Atom, Predicate, Program, Rule, Variable
from everlog.reasoning.modules.closure.description import Closure, Transition
from everlog.reasoning.modules.closure.shapes import basis_of
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.modules.union.description import MAX_GENERATORS, VirtualUnion
from tests.oracle import naive
from tests.reasoning.modules.outer import with_outer
from tests.strategies import Case, cases, graph_cases

Pair = tuple[str, str]
Pairs = frozenset[Pair]
KINDS: tuple[Kind, ...] = ("levels", "single")
P, Q, E, F = (Predicate(name, 2) for name in "pqef")


# ---- the meaning of modules, computed from their definitions


def transitive(pairs: Iterable[Pair]) -> Pairs:
    closed = set(pairs)
    while more := {(x, z) for x, y in closed for other, z in closed if other == y} - closed:
        closed |= more
    return frozenset(closed)


def inverse(pairs: Iterable[Pair]) -> Pairs:
    return frozenset((y, x) for x, y in pairs)


def pairs_of(predicate: Predicate, facts: naive.Facts) -> Pairs:
    return frozenset((row[0], row[1]) for row in facts.get(predicate, ()))


def along(edge: Edge, facts: naive.Facts) -> Pairs:
    found = pairs_of(edge.predicate, facts)
    return inverse(found) if edge.inverted else found


def meaning(module: SpecialModule, facts: naive.Facts) -> dict[Predicate, Pairs]:
    """The facts that a module derives from its inputs."""
    if isinstance(module, VirtualUnion):
        return {module.predicate: frozenset(chain.from_iterable(along(part, facts) for part in module.parts))}
    if module.kind in ("transitive", "symmetric-transitive"):
        (predicate,) = module.predicates
        outside = pairs_of(module.external[predicate], facts)
        return {predicate: transitive(outside if module.kind == "transitive" else outside | inverse(outside))}
    assert isinstance(module, Closure)
    return paths(module, facts)


def paths(module: Closure, facts: naive.Facts) -> dict[Predicate, Pairs]:
    """All (x, z) such that a path of transitions leads from X_Q(x, y) to the state of P at z."""

    def read(pairs: Pairs) -> Pairs:
        return inverse(pairs) if module.mirrored else pairs

    steps = [
        (move.source, move.target, None if move.edge is None else read(along(move.edge, facts)))
        for move in module.transitions
    ]
    reached = {
        (x, at, y)
        for at, state in enumerate(module.states)
        if state is not None
        for x, y in read(pairs_of(module.external[state], facts))
    }
    if module.closed:
        reached |= {(y, target, z) for _, target, edge in steps for y, z in edge or ()}
    while True:
        more = {
            (x, target, z)
            for x, at, y in reached
            for source, target, edge in steps
            if source == at
            for z in ([y] if edge is None else [end for start, end in edge if start == y])
        }
        if more <= reached:
            break
        reached |= more
    return {
        state: read(frozenset((x, z) for x, here, z in reached if here == at))
        for at, state in enumerate(module.states)
        if state in module.predicates
    }


def evaluate(program: StratifiedProgram, explicit: Iterable[naive.Fact]) -> dict[Predicate, set[naive.Row]]:
    """All facts, stratum by stratum: rules are evaluated naively, modules by their meaning."""
    known = naive.grouped((program.external.get(predicate, predicate), row) for predicate, row in explicit)
    for stratum in program.strata:
        if stratum.alone is not None:
            for predicate, pairs in meaning(stratum.alone, known).items():
                assert predicate not in known
                known[predicate] = set(pairs)
        while new := {
            fact for fact in naive.heads(stratum.rules, known, known) if fact[1] not in known.get(fact[0], ())
        }:
            for predicate, row in new:
                known.setdefault(predicate, set()).add(row)
    return known


def assert_same(program: Program, facts: Iterable[naive.Fact]) -> StratifiedProgram:
    """Check that the program derives equal facts with modules, for both stratifications; return one of them."""
    given = [*naive.explicit(program), *facts]
    wanted = naive.materialise(program, facts)
    checked = check(program)
    for kind in KINDS:
        found = with_outer(stratify(checked, kind))
        assert_well_formed(found)
        result = evaluate(found, given)
        for predicate in {*wanted, *checked.predicates}:
            assert result.get(predicate, set()) == wanted.get(predicate, set()), (kind, predicate, found)
    return found


def assert_well_formed(program: StratifiedProgram) -> None:
    number = program.stratum_of
    assert [stratum.index for stratum in program.strata] == list(range(1, len(program.strata) + 1))
    derived = [predicate for stratum in program.strata for predicate in stratum.predicates]
    assert len(derived) == len(set(derived))
    assert {predicate for predicate, stratum in number.items() if stratum} == set(derived)
    for stratum in program.strata:
        assert all(number[predicate] == stratum.index for predicate in stratum.predicates)
        for rule in stratum.rules:
            assert rule.head.predicate in stratum.predicates
            assert all(number[atom.predicate] <= stratum.index for atom in rule.positive)
            assert all(number[atom.predicate] < stratum.index for atom in rule.negative)
            own = any(number[atom.predicate] == stratum.index for atom in rule.positive)
            assert (rule in stratum.recursive) == own
            assert (rule in stratum.nonrecursive) == (not own)
        if stratum.alone is not None:
            assert stratum.rules == ()
            assert stratum.predicates == stratum.alone.predicates
            assert all(number[predicate] < stratum.index for predicate in stratum.alone.inputs)
    assert_every_rule_is_somewhere(program)


def assert_every_rule_is_somewhere(program: StratifiedProgram) -> None:
    taken = [id(rule) for stratum in program.strata if stratum.alone for rule in stratum.alone.rules]
    assert len(taken) == len(set(taken))
    outside = [rule for stratum in program.strata for rule in stratum.rules]
    kept = {id(rule) for rule in outside}
    for rule in program.program.rules:
        moved = program.external.get(rule.head.predicate) is not None
        assert (id(rule) in taken) + (id(rule) in kept) == (0 if moved and id(rule) not in taken else 1)
    assert all(id(each.rule) in kept for each in program.untaken)


# ---- rules from words, under any names and in any order of atoms


def rule_of(head: Predicate, path: Word, rng: random.Random | None = None) -> Rule:
    names = [f"v{i}" for i in range(len(path) + 1)]
    if rng is not None:
        rng.shuffle(names)
    at = [Variable(name) for name in names]
    atoms = [
        Atom(edge.predicate, (at[i + 1], at[i]) if edge.inverted else (at[i], at[i + 1])) for i, edge in enumerate(path)
    ]
    if rng is not None:
        rng.shuffle(atoms)
    return Rule(Atom(head, (at[0], at[-1])), tuple(atoms))


def letters(predicates: Sequence[Predicate]) -> list[Edge]:
    return [Edge(predicate, inverted) for predicate in predicates for inverted in (False, True)]


def modules_of(text: str, kind: Kind = "levels") -> list[SpecialModule]:
    found = with_outer(stratify(check(parse_program(text)), kind))
    return [stratum.alone for stratum in found.strata if stratum.alone is not None]


def kind_of(module: SpecialModule) -> str:
    return module.kind


FEED = "p(?x, ?y) :- e(?x, ?y) . "
TRANSITIVE_P = "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . "
TRANSITIVE_Q = TRANSITIVE_P.replace("p", "q")


# ---- words


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_word_does_not_depend_on_names_and_order(size: int) -> None:
    rng = random.Random(1)
    for path in product(letters([P, E]), repeat=size):
        for _ in range(4):
            rule = rule_of(Q, path, rng)
            assert word(rule) == path
            assert single(rule) == (path[0] if size == 1 else None)


@pytest.mark.parametrize(
    "text",
    [
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~f(?x, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?y, _) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?x, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), g(?y) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), rainy() .",
        "p(?x, ?z) :- p(?x, ?y), e(?w, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?u, ?v) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?y, ?y) .",
        "p(?x, ?z) :- p(?x, ?y), t(?y, ?y, ?z) .",
        "p(?x, ?z) :- p(?x, a), e(a, ?z) .",
        "p(?x, ?x) :- p(?x, ?y), e(?y, ?x) .",
        "p(?x, ?z) :- p(?x, ?z), p(?x, ?x) .",
        "p(?x, ?z) :- p(?x, ?y), p(?x, ?y), e(?y, ?x), f(?x, ?z) .",
        "p(?x, ?y) :- p(?x, ?z), e(?y, ?w) .",
    ],
)
def test_no_word(text: str) -> None:
    (rule,) = check(parse_program(text)).rules
    assert word(rule) is None
    assert modules_of(text) == []
    assert modules_of(text + FEED) == []


def test_a_repeated_atom_says_nothing_new() -> None:
    (rule,) = parse_program("p(?x, ?z) :- p(?x, ?y), p(?y, ?z), p(?x, ?y) .").rules
    assert word(rule) == (Edge(P), Edge(P))


# ---- transitivity and symmetry


def all_graphs(nodes: str) -> Iterable[Pairs]:
    pairs = [(x, y) for x in nodes for y in nodes]
    return (frozenset(pair for i, pair in enumerate(pairs) if bits >> i & 1) for bits in range(2 ** len(pairs)))


GRAPHS = [*all_graphs("ab"), *random.Random(7).sample([*all_graphs("abc")], 150)]


def close(words: Iterable[Word], start: Pairs) -> Pairs:
    """The facts that rules with these words over one predicate derive from its given facts."""
    known = set(start)
    while True:
        more = set()
        for path in words:
            found: set[Pair] | None = None
            for edge in path:
                step = {(y, x) for x, y in known} if edge.inverted else known
                found = {(x, z) for x, y in found for other, z in step if other == y} if found is not None else step
            more |= found or set()
        if more <= known:
            return frozenset(known)
        known |= more


OWN: list[Word] = [path for size in (1, 2) for path in product(letters([P]), repeat=size)][1:]
"""The words of one or two edges of one predicate, except p itself."""


@pytest.mark.parametrize("chosen", [c for size in range(1, 6) for c in combinations(OWN, size)])
def test_a_basis_is_exactly_a_closure(chosen: tuple[Word, ...]) -> None:
    """On all graphs with two nodes and some with three, a basis is accepted exactly if it equals the closure."""
    basis = basis_of(P, chosen)
    results = [(graph, close(chosen, graph)) for graph in GRAPHS]
    assert (basis == "transitive") == all(found == transitive(graph) for graph, found in results)
    assert (basis == "symmetric-transitive") == all(
        found == transitive(graph | inverse(graph)) for graph, found in results
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_no_rule_alone_is_symmetry_and_transitivity(size: int) -> None:
    start = frozenset({("a", "b")})
    for path in product(letters([P]), repeat=size):
        assert close([path], start) != transitive(start | inverse(start))
        text = print_rule(rule_of(P, path))
        assert [kind_of(each) for each in modules_of(FEED + text)] == (["transitive"] if path == (Edge(P),) * 2 else [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TRANSITIVE_P, "transitive"),
        ("p(?b, ?a) :- p(?c, ?a), p(?b, ?c) .", "transitive"),
        (TRANSITIVE_P + "p(?x, ?y) :- p(?x, ?y) .", "transitive"),
        (TRANSITIVE_P + "p(?x, ?w) :- p(?x, ?y), p(?y, ?z), p(?z, ?w) .", "transitive"),
        (TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .", "transitive"),
        (TRANSITIVE_P + "p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .", "transitive"),
        (TRANSITIVE_P + "p(?x, ?z) :- e(?x, ?y), p(?y, ?w), e(?w, ?z) .", "transitive"),
        (TRANSITIVE_P + "p(?y, ?x) :- p(?x, ?y) .", "symmetric-transitive"),
        ("p(?x, ?z) :- p(?x, ?y), p(?z, ?y) . p(?x, ?y) :- p(?y, ?x) .", "symmetric-transitive"),
        ("p(?x, ?z) :- p(?x, ?y), p(?z, ?y) . p(?x, ?z) :- p(?y, ?x), p(?y, ?z) .", "symmetric-transitive"),
        ("p(?x, ?z), p(?z, ?x) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- p(?y, ?x) .", "symmetric-transitive"),
        (
            TRANSITIVE_P + "p(?y, ?x) :- p(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?z, ?y) .",
            "symmetric-transitive",
        ),
    ],
)
def test_transitivity_and_symmetry(text: str, kind: str) -> None:
    (module,) = modules_of(FEED + text)
    assert isinstance(module, Closure)
    assert module.kind == kind
    assert module.states == (P,)
    assert dict(module.external) == {P: hidden(P)}
    assert len(module.rules) == len(parse_program(text).rules)


@pytest.mark.parametrize(
    "text",
    [
        "p(?x, ?z) :- p(?x, ?y), p(?z, ?y) .",
        "p(?x, ?y) :- p(?y, ?x) .",
        TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), p(?z, ?y) .",
        "p(?x, ?w) :- p(?x, ?y), p(?y, ?z), p(?z, ?w) .",
        TRANSITIVE_P + "p(?y, ?x) :- p(?x, ?y) . p(?x, ?z) :- p(?x, ?y), f(?y, ?z) .",
        TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), f(?y, ?z) . p(?x, ?z) :- f(?x, ?y), p(?y, ?z) .",
        TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?x, ?x) .",
        TRANSITIVE_P + "q(?x, ?y) :- p(?x, ?y) . p(?x, ?y) :- q(?x, ?y), f(?x, ?y) .",
        "p(?x, ?z) :- p(?x, ?y), q(?y, ?z) . q(?x, ?z) :- p(?x, ?y), p(?y, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?y, ?x) :- p(?x, ?y) .",
        "p(?x, ?z) :- p(?y, ?x), e(?y, ?z) .",
        "p(?x, ?z) :- e(?x, ?y), p(?y, ?w), e(?w, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?w), p(?w, ?z) .",
        "p(?x, ?z) :- p(?x, ?y), g(?y, ?z) . g(?x, ?y) :- p(?x, ?y), f(?x, ?y) .",
        "p(?x, ?z) :- q(?x, ?y), e(?y, ?z) . q(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
        "r(?x) :- r(?y), e(?y, ?x) . p(?x, ?y) :- r(?x), r(?y) .",
    ],
)
def test_not_taken(text: str) -> None:
    for kind in KINDS:
        program = with_outer(stratify(check(parse_program(FEED + text)), kind))
        assert all(stratum.alone is None for stratum in program.strata)
        assert program.strata == stratify(program.program, kind).strata
        assert len({id(each.rule) for each in program.untaken}) == len(program.untaken) > 0
        assert all(each.reason for each in program.untaken)


# ---- linear rules and chains


def test_left_linear() -> None:
    (module,) = modules_of("p(?x, ?z) :- e(?z, ?y), p(?x, ?y) .")
    assert module == Closure("linear", (P,), module.rules, {P: hidden(P)}, (Transition(0, Edge(E, True), 0),))


def test_right_linear_is_mirrored() -> None:
    (module,) = modules_of("p(?x, ?z) :- e(?x, ?y), p(?y, ?z) . p(?x, ?z) :- f(?y, ?x), p(?y, ?z) .")
    moves = (Transition(0, Edge(E), 0), Transition(0, Edge(F, True), 0))
    assert module == Closure("linear", (P,), module.rules, {P: hidden(P)}, moves, mirrored=True)


@pytest.mark.parametrize("text", ["p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .", "p(?x, ?z) :- e(?x, ?y), p(?y, ?z) ."])
def test_closed_takes_the_rule_for_the_edge(text: str) -> None:
    (module,) = modules_of(FEED + text)
    assert isinstance(module, Closure)
    assert module.closed
    assert len(module.rules) == 2
    for more in (text + text.replace("e(", "f("), FEED.replace("?x, ?y)", "?y, ?x)", 1) + text):
        (module,) = modules_of(FEED + more if "f(" in more else more)
        assert isinstance(module, Closure)
        assert not module.closed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p(c, ?z) :- p(c, ?y), e(?y, ?z) .", "p external | p intermediate external / e+"),
        ("p(?x, c) :- p(?y, c), e(?y, ?x) .", "p external | ^e+ / p intermediate external"),
        ("p(c, ?z) :- e(?y, ?z), p(c, ?y) . p(c, ?z) :- p(c, ?y), f(?z, ?y) .",
         "p external | p intermediate external / (e | ^f)+"),
    ],
)  # fmt: skip
def test_linear_from_a_constant(text: str, shown: str) -> None:
    (module,) = with_modules(stratify(check(parse_program(text)))).special
    assert print_module(module) == f"linear: {shown}"
    assert module.predicates == (P,)


@pytest.mark.parametrize(
    "text",
    [
        "p(c, ?z) :- p(d, ?y), e(?y, ?z) .",
        "p(c, ?z) :- p(c, ?y), e(?y, ?z) . p(d, ?z) :- p(d, ?y), e(?y, ?z) .",
        "p(c, ?z) :- p(c, ?y), p(?y, ?z) .",
        "p(c, ?z) :- p(c, ?y), e(?y, c), e(?y, ?z) .",
        "p(c, ?z) :- p(c, ?y), e(?y, ?w), e(?w, ?z) .",
        "p(?x, c) :- p(?x, c), e(?x, c) .",
        "p(c, c) :- p(c, c) .",
    ],
)
def test_constants_that_are_not_taken(text: str) -> None:
    assert not with_modules(stratify(check(parse_program(text)))).special


def test_transitive_and_linear() -> None:
    (module,) = modules_of(TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .")
    assert isinstance(module, Closure)
    assert module.kind == "linear"
    assert {move.edge for move in module.transitions} == {Edge(E), Edge(hidden(P))}
    assert module.inputs == (hidden(P), E)


def test_chains() -> None:
    (long,) = modules_of("p(?x, ?w) :- p(?x, ?y), e(?y, ?z), f(?w, ?z) .")
    assert isinstance(long, Closure)
    assert (long.kind, long.states) == ("chain", (P, None))
    assert long.transitions == (Transition(0, Edge(E), 1), Transition(1, Edge(F, True), 0))
    (two,) = modules_of("p(?x, ?z) :- q(?x, ?y), e(?y, ?z) . q(?x, ?y) :- p(?x, ?y) .")
    assert isinstance(two, Closure)
    assert two.kind == "chain"
    assert set(two.states) == {P, Q}
    number = {state: at for at, state in enumerate(two.states)}
    assert set(two.transitions) == {
        Transition(number[Q], Edge(E), number[P]),
        Transition(number[P], None, number[Q]),
    }
    (right,) = modules_of("p(?x, ?w) :- e(?x, ?y), f(?y, ?z), p(?z, ?w) .")
    assert isinstance(right, Closure)
    assert right.mirrored
    assert right.transitions == (Transition(0, Edge(F), 1), Transition(1, Edge(E), 0))


# ---- feeding closures, unions, aliases


def outside(text: str) -> list[str]:
    found = with_outer(stratify(check(parse_program(text))))
    return [print_rule(rule) for stratum in found.strata for rule in stratum.rules]


def test_a_closure_that_feeds_a_closure_is_not_expanded() -> None:
    top = TRANSITIVE_P
    assert outside(TRANSITIVE_Q + top + "p(?x, ?y) :- q(?x, ?y) .") == ["p external(?x, ?y) :- q external(?x, ?y) ."]
    assert outside(TRANSITIVE_Q + top + "p(?x, ?y) :- q(?y, ?x) .") == ["p external(?x, ?y) :- q external(?y, ?x) ."]
    assert outside(TRANSITIVE_Q + "q(?x, ?y) :- q(?y, ?x) . " + top + "p(?x, ?y) :- q(?x, ?y) .") == [
        "p external(?x, ?y) :- q external(?x, ?y) .",
        "p external(?x, ?y) :- q external(?y, ?x) .",
    ]
    between = "u(?x, ?y) :- q(?x, ?y) . p(?x, ?y) :- u(?x, ?y) ."
    assert outside(TRANSITIVE_Q + top + between) == [
        "p external(?x, ?y) :- u external(?x, ?y) .",
        "p external(?x, ?y) :- q external(?x, ?y) .",
    ]


def test_a_wide_union_that_feeds_a_closure_is_read_as_a_whole() -> None:
    parts = "".join(f"u(?x, ?y) :- e{i}(?x, ?y) . " for i in range(MAX_GENERATORS))
    text = TRANSITIVE_Q + "u(?x, ?y) :- q(?x, ?y) . p(?x, ?y) :- u(?x, ?y) . " + TRANSITIVE_P
    assert len(outside(text)) == 2
    assert outside(parts + text) == ["p external(?x, ?y) :- u(?x, ?y) ."]


def test_a_closure_as_edge_of_a_linear_module_is_not_expanded() -> None:
    module = modules_of(TRANSITIVE_Q + "p(?x, ?z) :- p(?x, ?y), q(?y, ?z) .")[1]
    assert isinstance(module, Closure)
    assert module.transitions == (Transition(0, Edge(hidden(Q)), 0),)


def test_aliases_of_modules_are_read_as_what_they_are() -> None:
    text = TRANSITIVE_Q + "a(?x, ?y) :- q(?y, ?x) . q(?x, ?y) :- a(?y, ?x) . p(?x, ?y) :- a(?x, ?y) ."
    for above in (text, text.replace("a(?x, ?y) .", "q(?y, ?x) .")):
        closure, alias, union = modules_of(above)
        assert isinstance(union, VirtualUnion)
        assert (closure.predicates, alias.predicates) == ((Q,), (Predicate("a", 2),))
        assert union.parts == (Edge(hidden(P)), Edge(Q, True))


def test_unions() -> None:
    text = TRANSITIVE_Q + "p(?x, ?y) :- q(?y, ?x) . p(?x, ?y) :- e(?x, ?y) . p(?x, ?x) :- node(?x) ."
    union = modules_of(text)[1]
    assert union == VirtualUnion(P, (Edge(hidden(P)), Edge(Q, True), Edge(E)), union.rules, {P: hidden(P)})
    assert len(union.rules) == 2
    assert outside(text) == ["p external(?x, ?x) :- node(?x) ."]
    over = modules_of(text + "r(?x, ?y) :- p(?x, ?y) . s(?x, ?y) :- e(?x, ?y) .")
    assert [str(each.predicates[0]) for each in over] == ["q/2", "p/2", "r/2"]


def test_a_symmetric_union() -> None:
    union = modules_of(TRANSITIVE_Q + "p(?x, ?y) :- q(?x, ?y) . p(?x, ?y) :- p(?y, ?x) .")[1]
    assert isinstance(union, VirtualUnion)
    assert set(union.parts) == {*letters([hidden(P), Q])}


@pytest.mark.parametrize(
    "text",
    [
        "p(?x, ?y) :- e(?x, ?y) .",
        "p(?x, ?y) :- q(?x, ?y) . q(?x, ?y) :- p(?y, ?x) . q(?x, ?y) :- e(?x, ?y) .",
        TRANSITIVE_Q.replace("q", "s") + "p(?x, ?y) :- s(?x, ?y), e(?x, ?y) . r(?x) :- s(?x, ?y) .",
        TRANSITIVE_Q.replace("q", "s") + "p(?x, ?y) :- s(?x, ?y), ~e(?x, ?y) . r(?x, ?x) :- s(?x, ?x) .",
    ],
)
def test_no_union(text: str) -> None:
    assert not any(isinstance(module, VirtualUnion) for module in modules_of(text))


def test_inverse_predicates_share_one_closure() -> None:
    text = (
        TRANSITIVE_P + "p(?x, ?y) :- q(?y, ?x) . q(?x, ?y) :- p(?y, ?x) . "
        "q(?x, ?z) :- q(?x, ?y), q(?y, ?z) . q(?x, ?y) :- f(?x, ?y), ~g(?x) . p(?x, ?y) :- e(?x, ?y) ."
    )
    closure, alias = modules_of(text)
    assert isinstance(closure, Closure)
    assert (closure.kind, closure.states, len(closure.rules)) == ("transitive", (P,), 3)
    assert alias == VirtualUnion(Q, (Edge(P, True),), alias.rules, {Q: hidden(Q)})
    assert outside(text) == [
        "p external(?y, ?x) :- f(?x, ?y), ~g(?x) .",
        "p external(?x, ?y) :- e(?x, ?y) .",
        "p external(?x, ?y) :- q external(?y, ?x) .",
    ]


def test_unions_of_each_other_share_one_representation() -> None:
    text = TRANSITIVE_Q + "a(?x, ?y) :- b(?y, ?x) . b(?x, ?y) :- a(?y, ?x) . b(?x, ?y) :- q(?x, ?y) ."
    _, first, second = modules_of(text)
    a, b = Predicate("a", 2), Predicate("b", 2)
    assert isinstance(first, VirtualUnion)
    assert first.parts == (Edge(hidden(a)), Edge(hidden(b), True), Edge(Q, True))
    assert second == VirtualUnion(b, (Edge(a, True),), second.rules, {b: hidden(b)})


def test_aliases() -> None:
    rules = parse_program("a(?x, ?y) :- b(?y, ?x) . b(?x, ?y) :- c(?y, ?x) . c(?x, ?y) :- a(?x, ?y), d(?x) .").rules
    assert not find_aliases(rules).edge_of
    more = parse_program("c(?x, ?y) :- a(?x, ?y) .").rules
    a, b, c = (Predicate(name, 2) for name in "abc")
    assert find_aliases([*rules, *more]).edge_of == {a: Edge(a), b: Edge(a, True), c: Edge(a)}


def test_strata() -> None:
    text = (
        "p(?x, ?y) :- e(?x, ?y), ~f(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . r(?x) :- e(?x, ?y) . "
        "s(?x, ?y) :- e(?x, ?y), ~p(?x, ?y) . s(?x, ?z) :- s(?x, ?y), p(?y, ?z) . t(?x) :- s(?x, ?x), r(?x) ."
    )
    wanted: Mapping[Kind, list[str]] = {
        "levels": ["p external r", "p", "s external", "s", "t"],
        "single": ["p external r", "p", "s external", "s", "t"],
    }
    for kind, names in wanted.items():
        found = with_outer(stratify(check(parse_program(text)), kind))
        assert [" ".join(p.name for p in stratum.predicates) for stratum in found.strata] == names
        assert_well_formed(found)


# ---- the meaning of whole programs

DERIVED = [P, Q, Predicate("r", 2)]
LAYERS = [Predicate(f"{name}{i}", 2) for i in range(3) for name in "pq"]
GIVEN = [E, F]
NODES = "abcd"


@st.composite
def word_programs(draw: st.DrawFn) -> Program:
    """Rules that are words over a few predicates; modules take most of them."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    rules = []
    for _ in range(draw(st.integers(1, 6))):
        head = draw(st.sampled_from(DERIVED))
        edge = st.sampled_from([*letters([*DERIVED, *GIVEN]), *map(Edge, [*GIVEN, *GIVEN, head, head])])
        shape = draw(st.sampled_from(["single", "single", "square", "left", "right", "any"]))
        path = {
            "single": (draw(edge),),
            "square": (Edge(head), Edge(head)),
            "left": (Edge(head), *draw(st.lists(edge, min_size=1, max_size=2))),
            "right": (*draw(st.lists(edge, min_size=1, max_size=2)), Edge(head)),
            "any": tuple(draw(st.lists(edge, min_size=1, max_size=3))),
        }[shape]
        rules.append(rule_of(head, path, rng))
    if draw(st.booleans()):
        head, negated = draw(st.permutations(DERIVED))[:2]
        x, y = Variable("x"), Variable("y")
        rules.append(Rule(Atom(Predicate("top", 2), (x, y)), (Atom(head, (x, y)),), (Atom(negated, (x, y)),)))
    return Program(tuple(rules))


@st.composite
def layered_programs(draw: st.DrawFn) -> Program:
    """Modules over modules: each layer has one or two predicates and reads edges of those below."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    below = list(GIVEN)
    rules: list[tuple[Predicate, Word]] = []
    for p, q in zip(LAYERS[::2], LAYERS[1::2], strict=True):
        edge = st.sampled_from([*letters(below[-2:]), *letters(below)])
        e, f, g = draw(edge), draw(edge), draw(edge)
        made: dict[str, list[tuple[Predicate, Word]]] = {
            "transitive": [(p, (Edge(p), Edge(p)))],
            "symmetric-transitive": [(p, (Edge(p), Edge(p))), (p, (Edge(p, True),))],
            "transitive inverses": [(p, (Edge(p), Edge(p))), (p, (Edge(q, True),)), (q, (Edge(p, True),)), (q, (f,))],
            "left": [(p, (Edge(p), e))],
            "right": [(p, (e, Edge(p)))],
            "closed": [(p, (Edge(p), e)), (p, (e,)), (p, (Edge(p), f)), (p, (f,))],
            "transitive and left": [(p, (Edge(p), Edge(p))), (p, (Edge(p), e))],
            "chain": [(p, (Edge(q), e)), (q, (Edge(p), f)), (q, (f, g))],
            "chain of one": [(p, (Edge(p), e, f)), (q, (Edge(p),))],
            "union": [(p, (e,)), (p, (g,))],
            "unions": [(p, (Edge(q, True),)), (q, (Edge(p, True),)), (p, (e,)), (q, (g,))],
        }
        kind = draw(st.sampled_from(sorted(made)))
        rules += [
            *made[kind],
            *[(p, path) for path in draw(st.lists(st.sampled_from([(f,), (g,), (f, g)]), max_size=2))],
        ]
        below += list(dict.fromkeys(head for head, _ in made[kind]))
    written = [rule_of(head, path, rng) for head, path in rules]
    rng.shuffle(written)
    return Program(tuple(written))


def fact_sets(predicates: Sequence[Predicate], nodes: str = NODES) -> st.SearchStrategy[set[naive.Fact]]:
    """A few facts of any predicate, including self-loops and derived predicates, and many of given predicates."""
    node = st.sampled_from(nodes)
    given = st.lists(st.tuples(st.sampled_from(GIVEN), st.tuples(node, node)), max_size=6)
    others = st.lists(st.tuples(st.sampled_from(list(predicates)), st.tuples(node, node)), max_size=3)
    return st.builds(lambda one, two: {*one, *two}, given, others)


@settings(max_examples=600, deadline=None)
@given(word_programs(), fact_sets(DERIVED))
def test_programs_of_words_mean_the_same(program: Program, facts: set[naive.Fact]) -> None:
    assert_same(program, facts)


@settings(max_examples=400, deadline=None)
@given(layered_programs(), fact_sets(LAYERS))
def test_layers_of_modules_mean_the_same(program: Program, facts: set[naive.Fact]) -> None:
    assert_same(program, facts)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_any_program_means_the_same(case: Case) -> None:
    assert_same(case.program, case.facts)


@settings(max_examples=80, deadline=None)
@given(graph_cases(max_nodes=5))
def test_recursive_programs_mean_the_same(case: Case) -> None:
    assert_same(case.program, case.facts)


WHOLE = [
    FEED + TRANSITIVE_P,
    FEED + "p(?x, ?z) :- p(?x, ?y), p(?z, ?y) . p(?x, ?y) :- p(?y, ?x) .",
    FEED + "p(?x, ?z) :- p(?x, ?y), p(?z, ?y) . p(?x, ?z) :- p(?y, ?x), p(?y, ?z) .",
    FEED + TRANSITIVE_P + "p(?x, ?z) :- p(?x, ?y), f(?z, ?y) .",
    FEED + TRANSITIVE_P + "p(?x, ?w) :- f(?x, ?y), e(?z, ?y), p(?z, ?w) .",
    FEED + "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    FEED + "p(?x, ?z) :- e(?x, ?y), p(?y, ?z) . p(?x, ?y) :- f(?y, ?x) . p(?x, ?z) :- f(?y, ?x), p(?y, ?z) .",
    FEED + "p(?x, ?z) :- p(?x, ?y), f(?z, ?y) . p(?x, ?w) :- p(?x, ?y), f(?y, ?z), e(?z, ?w) .",
    "p(?x, ?z) :- q(?x, ?y), e(?y, ?z) . q(?x, ?z) :- p(?x, ?y), f(?y, ?z) . q(?x, ?y) :- p(?x, ?y) .",
    "p(?x, ?z) :- e(?x, ?y), q(?y, ?z) . q(?x, ?z) :- f(?y, ?x), p(?y, ?z) . q(?x, ?y) :- p(?x, ?y) .",
    TRANSITIVE_Q + "q(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), q(?y, ?z) . p(?x, ?y) :- f(?x, ?y) .",
    TRANSITIVE_Q + "q(?x, ?y) :- q(?y, ?x) . p(?x, ?z) :- q(?x, ?y), p(?y, ?z) . p(?x, ?y) :- q(?x, ?y) .",
    TRANSITIVE_Q + "r(?x, ?y) :- q(?y, ?x) . r(?x, ?y) :- f(?x, ?y) . p(?x, ?y) :- r(?x, ?y) . " + TRANSITIVE_P,
    TRANSITIVE_P + "p(?x, ?y) :- q(?y, ?x) . q(?x, ?y) :- p(?y, ?x) . q(?x, ?y) :- f(?x, ?y) .",
    TRANSITIVE_Q + "p(?x, ?y) :- r(?y, ?x) . r(?x, ?y) :- p(?x, ?y) . r(?x, ?y) :- q(?x, ?y) . r(?x, ?x) :- e(?x, _) .",
]


@pytest.mark.parametrize("text", WHOLE)
def test_taken_programs_mean_the_same(text: str) -> None:
    program = parse_program(text)
    rng = random.Random(3)
    for size in [0, *range(40)]:
        predicates = [E, E, F, P, Q] if size % 2 else [E, F]
        facts = {(rng.choice(predicates), (rng.choice(NODES), rng.choice(NODES))) for _ in range(size // 4)}
        found = assert_same(program, facts)
        assert found.untaken == ()
        assert any(isinstance(stratum.alone, Closure) for stratum in found.strata)


# ---- reasons, size


def test_reasons() -> None:
    text = """
p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .
p(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~f(?x, ?z) .
q(?x, ?z) :- q(?x, ?y), e(?y, ?z) .
q(?x, ?z) :- e(?x, ?y), q(?y, ?z) .
sg(?x, ?y) :- e(?v, ?x), sg(?v, ?w), e(?w, ?y) .
r(?x, ?y) :- r(?y, ?x) .
"""
    found = with_outer(stratify(check(parse_program(text))))
    assert [(each.rule.span.line, each.reason) for each in found.untaken if each.rule.span] == [
        (2, "no module takes the rule for `p` in line 3, which is part of the recursion"),
        (3, "it has a negated atom"),
        (4, "left-linear and right-linear rules do not go together"),
        (5, "left-linear and right-linear rules do not go together"),
        (6, "the atom of the recursion is in the middle of its path"),
        (7, "without a closure below it, a relation that is kept does as well"),
    ]


def ontology(size: int) -> Program:
    """Classes and roles in hierarchies; some roles transitive, some with an inverse, some composed."""
    rng = random.Random(5)
    x, y = Variable("x"), Variable("y")
    roles = [Predicate(f"r{i}", 2) for i in range(size // 10)]
    classes = [Predicate(f"c{i}", 1) for i in range(size // 2)]
    rules: list[Rule] = []
    for i, role in enumerate(roles[1:], 1):
        rules.append(rule_of(roles[rng.randrange(i)], (Edge(role),)))
        if i % 10 == 0:
            inverse_role = Predicate(f"i{i}", 2)
            rules += [rule_of(role, (Edge(inverse_role, True),)), rule_of(inverse_role, (Edge(role, True),))]
        if i % 20 == 0:
            rules.append(rule_of(role, (Edge(role), Edge(role))))
        if i % 20 == 5:
            rules.append(rule_of(role, (Edge(role), Edge(roles[rng.randrange(i, len(roles))]))))
    while len(rules) < size:
        lower, upper = sorted(rng.sample(range(len(classes)), 2))
        some = Atom(rng.choice(roles), (x, y))
        body = (some, Atom(classes[lower], (y,))) if rng.random() < 0.3 else (Atom(classes[lower], (x,)),)
        rules.append(Rule(Atom(classes[upper], (x,)), body))
    return Program(tuple(rules))


def many_modules(size: int) -> Program:
    rules: list[Rule] = []
    for i in range(size // 5):
        p, q, u = (Predicate(f"{name}{i}", 2) for name in "pqu")
        rules += [
            rule_of(p, (Edge(p), Edge(p))),
            rule_of(p, (Edge(E),)),
            rule_of(q, (Edge(q), Edge(p))),
            rule_of(u, (Edge(q, True),)),
            rule_of(u, (Edge(Predicate(f"u{i - 1}", 2) if i % 50 else E),)),
        ]
    return Program(tuple(rules))


def one_component(size: int) -> Program:
    states = [Predicate(f"p{i}", 2) for i in range(size)]
    return Program(tuple(rule_of(states[i], (Edge(states[i - 1]), Edge(E))) for i in range(size)))


def one_predicate(size: int) -> Program:
    edges = [Predicate(f"e{i}", 2) for i in range(size // 2)]
    return Program(tuple(rule_of(P, path) for e in edges for path in ((Edge(P), Edge(e)), (Edge(e),))))


def unions_in_a_circle(size: int) -> Program:
    states = [Predicate(f"p{i}", 2) for i in range(size)]
    return Program(tuple(rule_of(states[i], (Edge(states[i - 1], i % 3 == 0),)) for i in range(size)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "size"),
    [
        (ontology, 50_000),
        (many_modules, 20_000),
        (one_component, 20_000),
        (one_predicate, 20_000),
        (unions_in_a_circle, 20_000),
    ],
)
def test_time_is_linear(make: Callable[[int], Program], size: int) -> None:
    """Eight times the rules take about eight times as long, and nowhere near 64 times."""
    seconds = []
    for rules in (size // 8, size):
        stratified = stratify(check(make(rules)))
        start = time.process_time()
        found = with_outer(stratified)
        seconds.append(time.process_time() - start)
    modules = sum(stratum.alone is not None for stratum in found.strata)
    print(f"{make.__name__}: {modules:,} modules of {size:,} rules in {seconds[1]:.2f} s")
    assert seconds[1] < 40 * max(seconds[0], 0.05)
