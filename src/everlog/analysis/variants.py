"""Variants: rules that are equal up to the names of their variables and the order of their bodies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from everlog.lang.syntax import Atom, Rule, Variable

Names = dict[Variable, Variable]


class Variants:
    """Maps each rule to its variants in a set of rules.

    >>> from everlog.lang.parser import parse_program
    >>> one, other = parse_program("p(?x) :- q(?x, ?y), r(?y) . p(?a) :- r(?b), q(?a, ?b) .").rules
    >>> Variants([one]).of(other) == [one]
    True
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_outline: dict[Hashable, list[Rule]] = {}
        for rule in rules:
            self._by_outline.setdefault(_hash_key(rule), []).append(rule)

    def of(self, rule: Rule) -> list[Rule]:
        """The variants of a rule."""
        return [other for other in self._by_outline.get(_hash_key(rule), ()) if is_variant(rule, other)]

    def __contains__(self, rule: Rule) -> bool:
        return bool(self.of(rule))


def is_variant(one: Rule, other: Rule) -> bool:
    """Whether some one-to-one renaming of variables and some order of the body make two rules equal."""
    names = _matched(one.head, other.head, {})
    if names is None or len(one.positive) != len(other.positive) or len(one.negative) != len(other.negative):
        return False
    return any(
        True
        for found in _paired(one.positive, other.positive, names)
        for _ in _paired(one.negative, other.negative, found)
    )


def _paired(atoms: tuple[Atom, ...], others: tuple[Atom, ...], names: Names) -> Iterator[Names]:
    """The renamings that turn atoms into other atoms in some order."""
    if not atoms:
        yield names
        return
    for at, other in enumerate(others):
        found = _matched(atoms[0], other, names)
        if found is not None:
            yield from _paired(atoms[1:], others[:at] + others[at + 1 :], found)


def _matched(atom: Atom, other: Atom, names: Names) -> Names | None:
    """The renaming that turns an atom into another one, None if there is none."""
    if atom.predicate != other.predicate:
        return None
    found = dict(names)
    taken = set(names.values())
    for mine, its in zip(atom.terms, other.terms, strict=True):
        if not isinstance(mine, Variable) or not isinstance(its, Variable):
            if mine != its:
                return None
        elif mine in found:
            if found[mine] != its:
                return None
        elif its in taken:
            return None
        else:
            found[mine] = its
            taken.add(its)
    return found


def _hash_key(rule: Rule) -> Hashable:
    """A hash key that is equal for all variants of a rule: its predicates."""
    return rule.head.predicate, *(tuple(sorted(a.predicate for a in atoms)) for atoms in (rule.positive, rule.negative))
