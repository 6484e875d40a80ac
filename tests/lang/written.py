"""Strategies for random programs with every kind of term, unusual strings, and prefixes."""

from __future__ import annotations

import re
from types import MappingProxyType

from hypothesis import strategies as st

from everlog.lang.characters import CHARACTER, START
from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Term, Variable, Wildcard
from everlog.lang.terms import XSD, decimal_text, double_text, literal_text

PREFIXES = {"ex": "http://example.org/", "sub": "http://example.org/sub#", "": "http://empty.org/", "xsd": XSD}

_STARTS, _CHARACTERS = (re.findall(f"[{kind}]", "".join(map(chr, range(1, 0x11000)))) for kind in (START, CHARACTER))
"""The characters of names, up to some beyond the basic plane: hypothesis is slow with large classes of characters."""

bare_names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,5}", fullmatch=True),
    st.builds(str.__add__, st.sampled_from(_STARTS), st.text(st.sampled_from(_CHARACTERS), max_size=5)),
    st.sampled_from(["größe", "名前", "trueé", "_é", "true-", "e\u0301"]),
)
predicate_bare_names = bare_names.filter(lambda name: name not in ("true", "false", "_"))
strings = st.one_of(
    st.text(max_size=8),
    bare_names,
    st.sampled_from(
        ['"', "\\", "a\nb", "42", "1.0", "true", "<http://e.org/>", '"x"@en', "ex:a", "_:b", "''", "", "%"]
    ),
)
iris = st.one_of(
    st.builds(
        lambda namespace, local: namespace + local,
        st.sampled_from(sorted(PREFIXES.values())),
        st.one_of(st.from_regex(r"[A-Za-z0-9._:%/-]{0,6}", fullmatch=True), bare_names),
    ),
    st.text(st.characters(exclude_characters='<>"{}|^`\\', exclude_categories=["Cc", "Cs", "Zs"]), max_size=8),
)
tags = st.from_regex(r"[a-z]{1,8}(-[a-z0-9]{1,4})?", fullmatch=True)
datatypes = st.one_of(
    st.sampled_from([XSD + each for each in ("integer", "date", "boolean", "double", "string")]), iris
)

texts = st.one_of(
    strings.map(lambda value: f'"{value}"'),
    iris.map(lambda iri: f"<{iri}>"),
    st.builds(lambda lexical, tag: literal_text(lexical, language=tag), strings, tags),
    st.builds(literal_text, strings, datatypes),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(decimal_text),
    st.floats(allow_nan=False, allow_infinity=False).map(double_text),
    st.sampled_from(["true", "false"]),
    st.from_regex(r"_:[A-Za-z0-9_](\.?[a-z0-9-]){0,3}", fullmatch=True),
)
"""Canonical texts of every kind."""

constants = texts.map(Constant)
variables = bare_names.map(lambda name: Variable(name.replace("-", "·")))
terms: st.SearchStrategy[Term] = st.one_of(constants, variables, st.just(Wildcard()))
predicate_names = st.one_of(predicate_bare_names, iris.map(lambda iri: f"<{iri}>"))


def atoms(of: st.SearchStrategy[Term] | st.SearchStrategy[Constant]) -> st.SearchStrategy[Atom]:
    return st.builds(
        lambda name, arguments: Atom(Predicate(name, len(arguments)), tuple(arguments)),
        predicate_names,
        st.lists(of, max_size=3),
    )


rules = st.builds(
    lambda head, positive, negative: Rule(head, tuple(positive), tuple(negative)),
    atoms(terms),
    st.lists(atoms(terms), max_size=3),
    st.lists(atoms(terms), max_size=2),
).filter(lambda rule: bool(rule.body) or not rule.head.is_ground)

programs = st.builds(
    lambda rules, facts, prefixes: Program(
        tuple(rules), tuple(facts), MappingProxyType({name: PREFIXES[name] for name in sorted(prefixes)})
    ),
    st.lists(rules, max_size=4),
    st.lists(atoms(constants), max_size=4),
    st.sets(st.sampled_from(sorted(PREFIXES))),
)
