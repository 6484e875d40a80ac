"""``everlog stats``"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everlog.cli.console import Console
from everlog.cli.options import at_option, logging_options, store_argument
from everlog.cli.terminal import echo

if TYPE_CHECKING:
    from everlog.store import Version
    from everlog.store.store import Store

SHOWN = 25
"""Maximum number of predicates listed without ``--all``."""


@click.command("stats")
@store_argument
@at_option
@click.option("--json", "as_json", is_flag=True, help="All figures as one JSON object.")
@click.option(
    "--all", "everything", is_flag=True, help=f"List all predicates, not only the {SHOWN} largest, and all rules."
)
@logging_options
def command(console: Console, store: str, at: Version | None, as_json: bool, everything: bool) -> None:
    """Show what is in a STORE: versions, rules, facts per predicate, terms, size on disk."""
    from everlog.store.store import Store

    console.watch_compilation()
    figures = collect(Store.open(store), at)
    if as_json:
        echo(json.dumps(figures, ensure_ascii=False, indent=2))
    else:
        for line in describe(figures, None if everything else SHOWN):
            echo(line)


def collect(store: Store, version: Version | None) -> dict[str, Any]:
    """The figures of a version of a store."""
    from everlog.kb.stores import open as open_store
    from everlog.lang.internal import VIOLATION

    info = store.info(version)
    state = open_store(store.path, info.version).state()
    predicates = [
        {"predicate": str(predicate), "facts": len(facts), "explicit": explicit, "derived": len(facts) - explicit}
        for predicate, facts in state.facts.items()
        for explicit in [len(state.explicit.relation(predicate))]
    ]
    active = [*store.files(info.version), *store.term_files(info.version)]
    return {
        "store": str(store.path),
        "version": info.version,
        "newest_version": store.version,
        "written": info.timestamp.isoformat(),
        "operation": info.operation,
        "facts": state.facts.count,
        "explicit": state.explicit.count,
        "derived": state.facts.count - state.explicit.count,
        "violations": len(state.facts.relation(VIOLATION)),
        "terms": sum(file.rows or 0 for file in store.term_files(info.version)),
        "files": len(active),
        "bytes": sum(file.size for file in active),
        "bytes_on_disk": {name: _size(path) for name, path in _directories(store).items()},
        "predicates": sorted(predicates, key=lambda found: (-found["facts"], found["predicate"])),
        "reasoning": info.statistics,
        "rules": info.rules,
    }


def describe(figures: dict[str, Any], shown: int | None) -> Iterator[str]:
    """The lines that describe the figures."""
    from everlog.lang.layout import aligned, bytes_text, violations_line

    disk = figures["bytes_on_disk"]
    of = f" (newest: {figures['newest_version']})" if figures["newest_version"] != figures["version"] else ""
    kept = ", ".join(f"{name} {bytes_text(size)}" for name, size in disk.items())
    yield f"store      {figures['store']}"
    written = figures["written"][:19].replace("T", " ")
    yield f"version    {figures['version']}{of}, {figures['operation']} at {written} UTC"
    yield f"facts      {figures['facts']:,}: {figures['explicit']:,} explicit, {figures['derived']:,} derived"
    yield from violations_line(figures["violations"], figures["store"])
    yield f"terms      {figures['terms']:,}, the names of predicates included"
    yield f"files      {figures['files']:,} with {bytes_text(figures['bytes'])} in this version"
    yield f"disk       {bytes_text(sum(disk.values()))} in all: {kept}"
    yield ""
    rows = [
        (f["predicate"], f"{f['facts']:,}", f"{f['explicit']:,}", f"{f['derived']:,}") for f in figures["predicates"]
    ]
    yield from aligned(("predicate", "facts", "explicit", "derived"), rows[:shown])
    if shown is not None and len(rows) > shown:
        yield f"and {len(rows) - shown:,} more predicates (--all)"
    strata = figures["reasoning"].get("strata", ())
    if strata:
        yield ""
        names = ("stratum", "rules", "recursive", "facts", "instances", "rounds", "seconds")
        yield from aligned(names, [_stratum_row(stratum) for stratum in strata])
    yield ""
    rules = figures["rules"].splitlines()
    yield "rules"
    yield from (f"  {line}" for line in rules[:shown])
    if shown is not None and len(rules) > shown:
        yield f"and {len(rules) - shown:,} more lines (--all)"


def _stratum_row(figures: dict[str, Any]) -> tuple[str, ...]:
    counts = [f"{figures[name]:,}" for name in ("rules", "recursive", "facts", "instances", "rounds")]
    return (str(figures["index"]), *counts, f"{figures['seconds']:.3f}")


def _directories(store: Store) -> dict[str, Path]:
    layout = store.layout
    return {"facts": layout.facts, "terms": layout.terms, "snapshot": layout.snapshots, "work": layout.work}


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
