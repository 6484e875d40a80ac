"""Find the modules of a program, and the rules that no module takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everlog.analysis.dependencies import strong_components
from everlog.analysis.modules.aliases import find_aliases
from everlog.analysis.modules.module import Detection, Detections, SpecialModule, Taken, Untaken
from everlog.analysis.modules.reading import Component, RuleReader
from everlog.lang.printer import NO_PREFIXES
from everlog.lang.syntax import Predicate, Rule


@dataclass(frozen=True)
class Detected:
    """A program in modules and rules; every rule is in one module, or outside, where its head may have changed."""

    modules: tuple[SpecialModule, ...]
    outside: tuple[Rule, ...]
    components: tuple[tuple[Predicate, ...], ...]
    """Groups of predicates in evaluation order."""
    untaken: tuple[Untaken, ...]


def detect(rules: Sequence[Rule], kinds: Detections, prefixes: Mapping[str, str] = NO_PREFIXES) -> Detected:
    """The modules of a stratifiable program, in time linear in its size.

    Predicates that are unions of each other are read as one. Among what then remains, the strongly
    connected components of the dependencies come one after the other, each after those it depends
    on. The first kind that makes a module of a component takes it. Only components that are recursive, or have a rule
    with nothing but a predicate of a module in its body, are shown to the kinds. What feeds a
    module is outside its component, so it cannot depend on the module.
    """
    detector = _Detector(rules, tuple(kinds), prefixes)
    for component in detector.components():
        detector.visit(component)
    return detector.result()


class _Detector:
    def __init__(self, rules: Sequence[Rule], kinds: tuple[Detection, ...], prefixes: Mapping[str, str]) -> None:
        self.rules = rules
        self.kinds = kinds
        self.reader = RuleReader(find_aliases(rules), prefixes)
        self.by_head: dict[Predicate, list[Rule]] = {}
        """The rules of all aliases of a predicate together."""
        for rule in rules:
            self.by_head.setdefault(self.reader.aliases.name(rule.head.predicate), []).append(rule)
        self.modules: list[SpecialModule] = []
        self.replaced: dict[int, tuple[Rule, ...]] = {}
        """Maps a rule's id to the rules that replace it; none if a module took it."""
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
        """Make the component a module if a kind takes it, otherwise record the reasons."""
        rules = [rule for head in predicates for rule in self.by_head[head]]
        if len(predicates) > 1 or self._may_be_module(predicates[0], rules):
            component = self.reader.component(predicates, rules)
            found = self._module(component)
            if isinstance(found, Taken):
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
        """Whether the predicate is recursive, or the body of some rule is one atom of a module's predicate."""
        name, known = self.reader.aliases.name, self.reader.generators
        for rule in rules:
            for atom in rule.positive:
                used = name(atom.predicate)
                if used == predicate or (len(rule.positive) == 1 and used in known):
                    return True
        return False

    def _module(self, component: Component) -> Taken | Sequence[str]:
        """The module of the first kind that takes the component; otherwise the first reasons given."""
        reasons: Sequence[str] = ()
        for kind in self.kinds:
            found = kind.of_component(component, self.reader)
            if isinstance(found, Taken):
                return found
            reasons = reasons or found
        return reasons

    def _take(self, component: Component, taken: Taken) -> None:
        """Move the module's rules into it; the other rules for its predicates become rules that feed it."""
        module = taken.module
        aliases = list(self._aliases(component))
        self.modules += [module, *aliases]
        self.order += [(hidden,) for hidden in module.external.values()]
        for each in (module, *aliases):
            self.order.append(each.predicates)
            self.replaced.update((id(rule), ()) for rule in each.rules)
        for read in component.others:
            if id(read.rule) not in self.replaced:
                self.replaced[id(read.rule)] = module.feeding(read, self.reader)
        self.bridges += [*taken.bridges, *module.fed_by_aliases(self.reader)]
        self.reader.generators.update(module.generators(self.reader))

    def _aliases(self, component: Component) -> Iterable[SpecialModule]:
        """Modules for the aliases of a component's predicates."""
        own: dict[Predicate, list[Rule]] = {}
        for read in component.recursive:
            if read.makes_alias:
                own.setdefault(read.rule.head.predicate, []).append(read.rule)
        for predicate, rules in own.items():
            made = (kind.of_alias(predicate, rules, self.reader) for kind in self.kinds)
            yield next(module for module in made if module is not None)
