"""``everlog explain``"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everlog.cli.console import Console
from everlog.cli.options import answer_options, logging_options, store_argument
from everlog.cli.terminal import echo
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.store import Version


@click.command("explain")
@store_argument
@click.argument("text", metavar="QUERY")
@click.option("--all", "every", is_flag=True, help="Show other proofs, too, not only the lowest one.")
@click.option(
    "--limit", "most", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Show at most N proofs."
)
@click.option("--answers", type=click.IntRange(1), metavar="N", help="Explain at most N answers.")
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    metavar="N",
    help="Fold levels deeper than N in text.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "dot", "html")),
    default="text",
    show_default=True,
    help="A tree, data, a graph for Graphviz, or a page that folds.",
)
@answer_options
@logging_options
def command(
    console: Console,
    store: str,
    text: str,
    every: bool,
    most: int,
    answers: int | None,
    depth: int,
    form: str,
    at: Version | None,
    output: str | None,
) -> None:
    """Say why a fact such as 'ancestor(alice, carol)' holds, or why it does not.

    A proof goes down to facts that were given; each step names the rule and the values of its variables.
    With variables, as in 'ancestor(alice, ?x)', every answer is explained. If there is none, each rule that
    could give one is shown with the first atom of its body that fails.
    """
    begun = time.monotonic()
    from everlog.kb.stores import open as open_store

    console.watch_compilation()
    explanation = open_store(store, at).explain(text, all=every, limit=most, answers=answers)
    forms: dict[str, Callable[[], str]] = {
        "text": partial(explanation.to_text, depth),
        "json": explanation.to_json,
        "dot": explanation.to_dot,
        "html": explanation.to_html,
    }
    shown = forms[form]().rstrip("\n")
    if output is None:
        echo(shown)
    else:
        Path(output).write_text(shown + "\n", encoding="utf-8")
    proved, seconds = sum(answer.holds for answer in explanation), time.monotonic() - begun
    summary = f"{counted(proved, 'fact')} explained" if proved else "does not hold"
    console.progress.result(
        f"{summary} in {seconds:.2f} s", explained=proved, proofs=len(explanation.proofs), seconds=round(seconds, 3)
    )
