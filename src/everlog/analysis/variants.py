"""Rules that are the same up to the names of their variables and the order of their bodies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from everlog.lang.syntax import Atom, Rule, Variable

Names = dict[Variable, Variable]


class Variants:
    """Rules found by rules that are the same as they.

    >>> from everlog.lang.parser import parse_program
    >>> one, other = parse_program("p(?x) :- q(?x, ?y), r(?y) . p(?a) :- r(?b), q(?a, ?b) .").rules
    >>> Variants([one]).of(other) == [one]
    True
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_outline: dict[Hashable, list[Rule]] = {}
        for rule in rules:
            self._by_outline.setdefault(_outline(rule), []).append(rule)

    def of(self, rule: Rule) -> list[Rule]:
        """The rules that are the same as a rule."""
        return [other for other in self._by_outline.get(_outline(rule), ()) if is_variant(rule, other)]

    def __contains__(self, rule: Rule) -> bool:
        return bool(self.of(rule))


def is_variant(one: Rule, other: Rule) -> bool:
    """Whether some renaming of variables, one to one, and some order of the body make two rules the same."""
    names = _matched(one.head, other.head, {})
    if names is None or len(one.positive) != len(other.positive) or len(one.negative) != len(other.negative):
        return False
    return any(
        True
        for found in _paired(one.positive, other.positive, names)
        for _ in _paired(one.negative, other.negative, found)
    )


def _paired(atoms: tuple[Atom, ...], others: tuple[Atom, ...], names: Names) -> Iterator[Names]:
    """The renamings with which atoms are others in some order."""
    if not atoms:
        yield names
        return
    for at, other in enumerate(others):
        found = _matched(atoms[0], other, names)
        if found is not None:
            yield from _paired(atoms[1:], others[:at] + others[at + 1 :], found)


def _matched(atom: Atom, other: Atom, names: Names) -> Names | None:
    """The renaming with which an atom is another one, None if there is none."""
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


def _outline(rule: Rule) -> Hashable:
    """What all variants of a rule have in common, at the least: its predicates."""
    return rule.head.predicate, *(tuple(sorted(a.predicate for a in atoms)) for atoms in (rule.positive, rule.negative))
