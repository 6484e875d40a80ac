"""``everlog owl``"""

from __future__ import annotations

from typing import Any

import click

from everlog.cli.console import Console
from everlog.cli.options import logging_options, setting
from everlog.cli.terminal import echo
from everlog.lang.layout import counted


@click.command("owl")
@click.argument("ontologies", metavar="[ONTOLOGY]...", nargs=-1, type=click.Path())
@setting("profile", "equality", "schema", "base")
@logging_options
def command(
    console: Console, /, ontologies: tuple[str, ...], profile: Any, equality: Any, schema: Any, base: str | None
) -> None:
    """Print the rules that ontologies stand for.

    An ONTOLOGY is a file in any serialisation of RDF; rule files (.rls) may stand among them.

    \b
    lower  what of the axioms is datalog: all that is derived follows
    upper  existentials as new constants, disjunctions as conjunctions: all that follows is derived
    rl     the OWL 2 RL/RDF rules over triple(subject, predicate, object)
    rdfs   the rules of RDF Schema over triple(subject, predicate, object)
    skos   the rules of SKOS

    What the rules do not express is listed as comments, axiom by axiom, with the reason.
    """
    from everlog.owl.programs import SHIPPED, program_of

    if not ontologies and profile not in SHIPPED:
        raise click.UsageError(f"the profile {profile} needs an ontology.")
    translation = program_of(ontologies, profile, equality=equality, base=base, schema=schema)
    echo(translation.text(), nl=False)
    program, missing = translation.program, translation.untranslated
    partly = sum(each.partly for each in missing)
    console.progress.result(
        f"{counted(len(program.rules), 'rule')}, {counted(len(translation.facts), 'fact')}; "
        f"{counted(len(missing) - partly, 'axiom')} not expressed, {partly:,} not wholly"
    )
