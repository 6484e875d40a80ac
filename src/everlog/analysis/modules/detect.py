"""Find the modules of a program, and what is left when they have taken their rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everlog.analysis.dependencies import strong_components
from everlog.analysis.modules.aliases import find_aliases
from everlog.analysis.modules.bound import bound_closure
from everlog.analysis.modules.build import alias_unions, closure, generators, union
from everlog.analysis.modules.feeding import fed, fed_by
from everlog.analysis.modules.kinds import Closure, Module, Untaken
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.analysis.modules.shapes import Misfit, basis_of, flaw_of, is_implied, shape_of
from everlog.analysis.modules.words import flaw
from everlog.lang.printer import NO_PREFIXES, print_name
from everlog.lang.syntax import Predicate, Rule

NO_USE = "without a closure below it, a relation that is kept does as well"


@dataclass(frozen=True)
class Detected:
    """A program in modules and rules; every rule is in one module, or outside, where its head may have changed."""

    modules: tuple[Module, ...]
    outside: tuple[Rule, ...]
    components: tuple[tuple[Predicate, ...], ...]
    """Modules, hidden predicates and what depends on each other outside modules, each after what it depends on."""
    untaken: tuple[Untaken, ...]


def detect(rules: Sequence[Rule], prefixes: Mapping[str, str] = NO_PREFIXES) -> Detected:
    """The modules of a stratifiable program, in time linear in its size.

    Predicates that are unions of each other are read as one. Among what then remains, the strongly
    connected components of the dependencies come one after the other, each after those it depends
    on: one whose recursive rules all together are a closure becomes one, and a predicate that has
    a rule with nothing but a predicate of a module in its body becomes a union. What feeds a
    module is outside its component, so it cannot depend on the module.
    """
    detector = _Detector(rules, prefixes)
    for component in detector.components():
        detector.visit(component)
    return detector.result()


class _Detector:
    def __init__(self, rules: Sequence[Rule], prefixes: Mapping[str, str]) -> None:
        self.rules = rules
        self.prefixes = prefixes
        self.reader = RuleReader(find_aliases(rules))
        self.by_head: dict[Predicate, list[Rule]] = {}
        """The rules of all aliases of a predicate together."""
        for rule in rules:
            self.by_head.setdefault(self.reader.aliases.name(rule.head.predicate), []).append(rule)
        self.modules: list[Module] = []
        self.replaced: dict[int, tuple[Rule, ...]] = {}
        """What has become of a rule, by its identity: nothing if a module has taken it."""
        self.bridges: list[Rule] = []
        self.order: list[tuple[Predicate, ...]] = []
        self.untaken: list[Untaken] = []

    def components(self) -> list[tuple[Predicate, ...]]:
        """The components of the dependencies, each after those it depends on."""
        name, heads = self.reader.aliases.name, self.by_head

        def after(head: Predicate) -> Iterable[Predicate]:
            used = dict.fromkeys(name(atom.predicate) for rule in heads[head] for atom in rule.body)
            return [predicate for predicate in used if predicate in heads]

        return strong_components(heads, after)

    def visit(self, predicates: tuple[Predicate, ...]) -> None:
        """Make the component a module if it is one, otherwise say why not."""
        rules = [rule for head in predicates for rule in self.by_head[head]]
        if len(predicates) > 1 or self._may_be_module(predicates[0], rules):
            component = self.reader.component(predicates, rules)
            found = self._module(component)
            if not isinstance(found, list):
                self._take(component, found)
                return
            self.untaken += map(Untaken, (read.rule for read in component.recursive), found)
        self.order.append(tuple([each for head in predicates for each in self.reader.aliases.members(head)]))

    def result(self) -> Detected:
        outside = [new for rule in self.rules for new in self.replaced.get(id(rule), (rule,))]
        position = {id(rule): at for at, rule in enumerate(self.rules)} if self.untaken else {}
        untaken = sorted(self.untaken, key=lambda each: position[id(each.rule)])
        return Detected(tuple(self.modules), (*outside, *self.bridges), tuple(self.order), tuple(untaken))

    def _may_be_module(self, predicate: Predicate, rules: Sequence[Rule]) -> bool:
        """Whether the predicate is recursive or some rule has but a predicate of a module in its body."""
        name, known = self.reader.aliases.name, self.reader.generators
        for rule in rules:
            for atom in rule.positive:
                used = name(atom.predicate)
                if used == predicate or (len(rule.positive) == 1 and used in known):
                    return True
        return False

    def _module(self, component: Component) -> Module | list[str]:
        """The module that a component is, otherwise for each of its recursive rules why there is none."""
        reasons = self._flaws(component)
        if reasons:
            bound = bound_closure(component, self.reader)
            if bound is None:
                return reasons
            self.bridges.append(bound[1])
            return bound[0]
        words = [(read.head.predicate, read.word) for read in component.recursive if read.word is not None]
        try:
            shape = shape_of(component.inside, words, component.contained) if words else None
        except Misfit as misfit:
            return [str(misfit)] * len(words)
        found = union(component, self.reader) if shape is None else closure(component, shape, self.reader)
        return [NO_USE] * len(words) if found is None else found

    def _flaws(self, component: Component) -> list[str]:
        """For each recursive rule why no module takes it; nothing if no rule by itself speaks against one."""
        inside, predicate = component.inside, component.predicates[0]

        def own(read: ReadRule) -> str | None:
            if read.word is None:
                return flaw(read.rule) or "its body is not a path between the variables of its head"
            return flaw_of(read.word, inside)

        found = [own(read) for read in component.recursive]
        if any(found) and len(inside) == 1:
            words = {read.word for read in component.recursive if read.word is not None}
            basis = basis_of(predicate, words)
            for at, read in enumerate(component.recursive):
                if read.word is not None and is_implied(read.word, basis, predicate, component.contained):
                    found[at] = None
        blamed = next((read.rule for read, why in zip(component.recursive, found, strict=True) if why), None)
        if blamed is None:
            return []
        where = "" if blamed.span is None else f" in line {blamed.span.line}"
        name = print_name(blamed.head.predicate.name, self.prefixes)
        return [why or f"no module takes the rule for `{name}`{where}, which is part of the recursion" for why in found]

    def _take(self, component: Component, module: Module) -> None:
        """Give the module its rules, and let the other rules for its predicates feed it."""
        aliases = list(alias_unions(component, self.reader))
        self.modules += [module, *aliases]
        self.order += [(hidden,) for hidden in module.external.values()]
        for each in (module, *aliases):
            self.order.append(each.predicates)
            self.replaced.update((id(rule), ()) for rule in each.rules)
        for read in component.others:
            if id(read.rule) not in self.replaced:
                self.replaced[id(read.rule)] = self._feeding(read, module)
        for predicate in module.predicates if isinstance(module, Closure) else ():
            if predicate in self.reader.aliases.others:
                self.bridges += fed_by(self.reader.sources(predicate)[1:], predicate)
        self.reader.generators.update(generators(module, self.reader))

    def _feeding(self, read: ReadRule, module: Module) -> tuple[Rule, ...]:
        """The rule for what the module reads; it suffices to feed a transitive closure with what generates it."""
        if read.edge is not None and isinstance(module, Closure) and "transitive" in module.kind:
            edges = self.reader.generated(read.edge)
            if edges != (read.edge,):
                return fed_by(edges, read.head.predicate, read.rule)
        return (fed(read.rule, read.head),)
