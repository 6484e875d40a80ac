"""``everlog check``"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from everlog.cli.console import Console
from everlog.cli.options import logging_options, setting
from everlog.cli.terminal import echo
from everlog.host.memory import bytes_of, free_memory
from everlog.lang.layout import counted
from everlog.settings import LOOK_UP_ROWS

if TYPE_CHECKING:
    from everlog.analysis.stratify import StratifiedProgram, Stratum
    from everlog.backends.spark.settings import SparkSettings
    from everlog.engine.plan import Plan
    from everlog.lang.syntax import Predicate, Rule

FACTS, CHANGED = 1_000_000, 1_000
"""The numbers of facts that plans assume in a relation, and in the change of a relation in one round."""


@click.command("check")
@click.argument("rules", metavar="RULES", type=click.Path())
@setting("modules", "stratification", "engine", "memory", "spark-local-finish", "expand-below")
@click.option("--plans/--no-plans", default=True, help="Show how each rule is matched.")
@setting("warnings")
@logging_options
def command(
    console: Console,
    rules: str,
    modules: str,
    stratification: Any,
    engine: str,
    memory: str | None,
    spark_local_finish: int,
    expand_below: int,
    plans: bool,
) -> None:
    """Check RULES and show strata, modules, plans and warnings.

    A plan is the order in which the atoms of a rule are matched, here for relations of equal size;
    of a recursive rule there is one for each atom that may have changed. Rules that a module takes
    are not matched; `NAME external` has the facts of other rules and the explicit facts. With
    `--engine spark` it shows how Spark evaluates each stratum, and why; with
    an explicit `--engine auto`, also the strata that are left to one task with this --memory.
    Thresholds are in parentheses, by their names.
    """
    progress = console.progress
    from everlog.analysis.check import check
    from everlog.analysis.stratify import stratify
    from everlog.lang.parser import parse_file
    from everlog.reasoning.modules.kinds import with_modules

    program = stratify(check(parse_file(rules)), stratification)
    is_given = click.get_current_context().get_parameter_source("engine") is not ParameterSource.DEFAULT
    if modules == "on":
        program = with_modules(program)
    settings = None
    if is_given and engine != "local":
        settings = _spark_settings(engine, bytes_of(memory), spark_local_finish, expand_below)
    for line in describe(rules, program, plans, settings):
        echo(line)
    progress.warned += len(program.program.warnings)
    progress.refuse_warnings()


def _spark_settings(engine: str, memory: int | None, local_finish: int, expand_below: int) -> SparkSettings:
    from everlog.backends.spark.plans import PlanSettings
    from everlog.backends.spark.settings import SparkSettings

    plans = PlanSettings()
    if engine == "auto":
        plans = plans.choosing(free_memory() if memory is None else memory)
    return SparkSettings(local_finish, plans, expand_below)


def describe(
    name: str, program: StratifiedProgram, plans: bool = True, on_spark: SparkSettings | None = None
) -> Iterator[str]:
    """The lines that describe a program; with settings for Spark, Spark's plans instead of those of the rules."""
    from everlog.profiling.recorder import as_written

    checked = program.program
    modules = len(program.special)
    of_which = f", {counted(modules, 'module')}" if modules else ""
    yield (
        f"{name}: {counted(len(checked.rules), 'rule')}, {counted(len(checked.facts), 'fact')}, "
        f"{counted(len(checked.predicates), 'predicate')}; {counted(len(program.strata), 'stratum', 'strata')} "
        f"({program.kind}){of_which}; {counted(len(checked.warnings), 'warning')}"
    )
    given = [_named(predicate, program) for predicate in checked.predicates if program.stratum_of[predicate] == 0]
    if given:
        yield f"facts only: {', '.join(given)}"
    text_of = as_written(program)
    for stratum in program.strata:
        yield ""
        yield f"stratum {stratum.index}: {', '.join(_named(predicate, program) for predicate in stratum.predicates)}"
        yield from _describe_rules(stratum, text_of, plans and on_spark is None)
        yield from _describe_module(stratum, program, text_of)
        if plans and on_spark is not None:
            yield from _describe_on_spark(stratum, program, on_spark)
    yield from _describe_untaken(program, text_of)
    if plans and on_spark is not None:
        yield from _describe_updates(on_spark)
    for warning in checked.warnings:
        yield ""
        yield str(warning)


def _describe_rules(stratum: Stratum, text_of: Callable[[Rule], str], plans: bool) -> Iterator[str]:
    for kind, rules in (("nonrecursive", stratum.nonrecursive), ("recursive", stratum.recursive)):
        for rule in rules:
            yield f"  {text_of(rule)}"
            if plans:
                yield from _describe_plans(rule, kind, stratum)


def _describe_module(stratum: Stratum, program: StratifiedProgram, text_of: Callable[[Rule], str]) -> Iterator[str]:
    from everlog.analysis.modules.printing import print_module

    for module in stratum.special:
        yield f"  module {print_module(module, program.program.prefixes)}"
        yield from (f"    {text_of(rule)}" for rule in module.rules)


def _describe_on_spark(stratum: Stratum, program: StratifiedProgram, settings: SparkSettings) -> Iterator[str]:
    """The lines that describe how Spark evaluates the stratum, as a whole or in parts, for relations of equal size."""
    from everlog.analysis.decompose import parts_of
    from everlog.analysis.ordinary import without_modules
    from everlog.backends.spark.plans import plan_of

    sizes = dict.fromkeys(program.predicates, FACTS)
    parts = parts_of(without_modules(stratum) if stratum.is_mixed else stratum)
    if plan_of(stratum, sizes, settings.plans).kind == "local":
        parts = (stratum,)
    for part in parts:
        of = "" if len(parts) == 1 else f" of {', '.join(_named(predicate, program) for predicate in part.predicates)}"
        first, *others = str(settings.explained(plan_of(part, sizes, settings.plans))).splitlines()
        yield f"  on Spark{of}: {first}"
        yield from (f"    {line.strip()}" for line in others)


def _describe_updates(settings: SparkSettings) -> Iterator[str]:
    """The lines that describe how Spark updates stores, which does not depend on the rules."""
    from everlog.backends.spark.plans import limit

    small = limit(settings.plans, "local_facts") if settings.plans.local_facts else settings.finishing
    yield ""
    yield "updates on Spark: in one task that looks up what it needs"
    yield f"  unless that is more rows of the store (look-up-rows {LOOK_UP_ROWS:,}) or facts {small}"
    yield f"  otherwise in one task as a whole if the store has few rows {small}"
    many = limit(settings, "probe_rows")
    yield f"  otherwise distributed; of predicates with many rows, tasks find what to read {many}"


def _describe_untaken(program: StratifiedProgram, text_of: Callable[[Rule], str]) -> Iterator[str]:
    if program.untaken:
        yield ""
        yield "recursive rules that no module takes:"
    for each in program.untaken:
        yield f"  {text_of(each.rule)}"
        yield f"    {each.reason}"


def _named(predicate: Predicate, program: StratifiedProgram) -> str:
    from everlog.lang.printer import print_name

    return f"{print_name(predicate.name, program.program.prefixes)}/{predicate.arity}"


def _describe_plans(rule: Rule, kind: str, stratum: Stratum) -> Iterator[str]:
    where = f", line {rule.span.line}" if rule.span is not None else ""
    for number, plan in enumerate(_plans(rule, kind == "recursive", stratum)):
        yield f"    {kind}{where}" if number == 0 else "    or"
        yield from (f"      {line}" for line in str(plan).splitlines())


def _plans(rule: Rule, recursive: bool, stratum: Stratum) -> Iterator[Plan]:
    """The plan of a nonrecursive rule, or the plans of a recursive one, one for each atom that may change."""
    from everlog.engine.plan import PlannedRule

    planned, sizes = PlannedRule(rule), [FACTS] * len(rule.body)
    if not recursive:
        yield planned.plan(None, sizes)
        return
    for pivot, atom in enumerate(rule.positive):
        if atom.predicate in stratum.predicates:
            yield planned.plan(pivot, [CHANGED if i == pivot else size for i, size in enumerate(sizes)])
