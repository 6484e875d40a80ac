"""``everlog verify``"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import limit_options, logging_options, store_argument
from everlog.cli.terminal import echo
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place, StoreError
from everlog.lang.layout import counted

if TYPE_CHECKING:
    from everlog.store.store import Store

RESTORE = "restore the store from a backup, or materialise again with --overwrite"


@click.command("verify")
@store_argument
@click.option("--rules", type=click.Path(), metavar="RULES", help="Apply these rules instead of the store's own.")
@click.option("--quick", is_flag=True, help="Check the files only, do not reason again.")
@limit_options
@logging_options
def command(console: Console, store: str, rules: str | None, quick: bool, limits: dict[str, Any]) -> None:
    """Check the newest version of a STORE.

    Files, sums, terms and statistics must agree with each other, the snapshot with the tables, and
    the facts with what the rules derive from the explicit facts, computed again from nothing.
    """
    progress = console.progress
    begun = time.monotonic()
    from everlog.kb.recompute import recompute, wrong_snapshot, wrong_statistics
    from everlog.kb.stores import with_state
    from everlog.reasoning.statistics import Listener
    from everlog.store.loading import state_in_tables
    from everlog.store.store import Store
    from everlog.store.verify import damaged_snapshots, verify_tables

    console.watch_compilation()
    opened = Store.open(store)
    progress.phase("check files")
    _stop_if_any(verify_tables(opened), store)
    _stop_if_any(damaged_snapshots(opened), store, _remove(opened))
    progress.phase("load")
    state = state_in_tables(opened)
    _stop_if_any(wrong_statistics(opened, state), store)
    _stop_if_any(wrong_snapshot(opened, state), store, _remove(opened))
    if not quick:
        progress.phase("reason")
        _stop_if_any(recompute(opened, state, rules, Listener(progress.round_done), **limits), store)
    progress.close()
    files = counted(len(opened.files()) + len(opened.term_files()), "file")
    echo(f"version {opened.version}: {files}, all as the log says")
    facts = (with_state(opened, opened.info(), state).state() if state.generated else state).facts.count
    if not quick:
        echo(f"{facts:,} facts follow from {state.explicit.count:,} explicit ones, as stored")
    seconds = time.monotonic() - begun
    progress.result(f"verified in {seconds:.1f} s", facts=facts, seconds=round(seconds, 3))


def _remove(store: Store) -> str:
    """The hint about a wrong snapshot, which can always be made again from the tables."""
    return f"remove {store.layout.snapshots}: it is made again from the tables, in which nothing wrong was found so far"


def _stop_if_any(findings: list[str], store: str, hint: str = RESTORE) -> None:
    if findings:
        place = Place(store)
        last = len(findings) - 1
        raise StoreError(
            Diagnostic(Code.NOT_VERIFIED, found, place, hint if number == last else None)
            for number, found in enumerate(findings)
        )
