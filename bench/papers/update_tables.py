"""Updates: tables 3 to 9 of the journal paper, tables 4.2 to 4.4 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.papers.compared import Compared, Pair, PaperTable
from bench.papers.figures import row
from bench.papers.records import Record, over, ratio
from bench.report import count

KINDS = {"Y": "levels", "N": "single"}
"""The stratifications, as the journal names them."""

PHASES = {
    "counting": ("added", "deleted"),
    "dred": ("forward", "backward", "delete"),
    "fbf": ("forward", "backward", "delete"),
}


def tables(records: Sequence[Record]) -> list[PaperTable]:
    return [
        PaperTable("journal-3", "Deleting 1,000 facts", [_deleting(*each) for each in _stratified(records)]),
        PaperTable("journal-4", "Derivations by phase", [_breakdown(*each) for each in _stratified(records)], count),
        PaperTable("journal-5", "Random walks", [_walking(*each) for each in _stratified(records)]),
        PaperTable("journal-6", "Adding 1,000 facts", [_adding(*each) for each in _stratified(records)]),
        PaperTable("journal-7", "Break-even points, as shares of the explicit facts", list(map(_points, records))),
        PaperTable("journal-8", "Deleting the largest break-even point", list(map(_largest, records))),
        PaperTable("journal-9", "Adding it again", list(map(_added, records))),
        PaperTable("thesis-4.2", "Deleting 1,000 facts with counters", list(map(_counted, records))),
        PaperTable("thesis-4.3", "Large deletions with counters", list(map(_large, records))),
        PaperTable("thesis-4.4", "Rematerialising with counters", list(map(_rematerialising, records))),
    ]


def _stratified(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    return ((record, letter) for record in records for letter in KINDS)


def _deleting(record: Record, letter: str) -> Compared:
    theirs, kind = row("journal-3", f"{record.paper} {letter}"), KINDS[letter]
    ours = {f"{a} s": record.seconds(a, stratification=kind) for a in PHASES}
    ours |= {f"{a} derivations": record.derivations(a, stratification=kind) for a in PHASES}
    pairs = (("counting s", "fbf s"), ("dred s", "fbf s"), ("dred derivations", "counting derivations"),
             ("fbf derivations", "counting derivations"))  # fmt: skip
    return Compared(f"{record.name} {letter}", _ratios(theirs, ours, pairs))


def _ratios(theirs: dict[str, Any], ours: dict[str, Any], pairs: Sequence[tuple[str, str]]) -> dict[str, Pair]:
    """Figures divided by others, in the paper and here; a column is named by both."""
    return {f"{above} / {below}": (ratio(theirs, above, below), ratio(ours, above, below)) for above, below in pairs}


def _breakdown(record: Record, letter: str) -> Compared:
    theirs, kind = row("journal-4", f"{record.paper} {letter}"), KINDS[letter]
    pairs: dict[str, Pair] = {}
    for algorithm, phases in PHASES.items():
        ours = record.instances(algorithm, stratification=kind)
        for phase in phases:
            pairs[f"{algorithm} {phase}"] = theirs.get(f"{algorithm} {phase}"), ours.get(phase, 0.0) if ours else None
    return Compared(f"{record.name} {letter}", pairs)


def _walking(record: Record, letter: str) -> Compared:
    uniform, walk = (row(table, f"{record.paper} {letter}") for table in ("journal-3", "journal-5"))
    kind = KINDS[letter]
    pairs: dict[str, Pair] = {}
    for a in PHASES:
        ours = over(record.seconds(a, stratification=kind), record.seconds(a, sampling="walk", stratification=kind))
        pairs[f"{a}: uniform / walk"] = over(uniform.get(f"{a} s"), walk.get(f"{a} s")), ours
    return Compared(f"{record.name} {letter}", pairs)


def _adding(record: Record, letter: str) -> Compared:
    theirs, kind = row("journal-6", f"{record.paper} {letter}"), KINDS[letter]
    ours = {f"{a} s": record.seconds(a, "add", stratification=kind) for a in ("counting", "dred")}
    ours |= {f"{a} derivations": record.derivations(a, "add", stratification=kind) for a in ("counting", "dred")}
    pairs = (("counting s", "dred s"), ("counting derivations", "dred derivations"))
    return Compared(f"{record.name} {letter}", _ratios(theirs, ours, pairs))


def _points(record: Record) -> Compared:
    theirs, points = row("journal-7", f"{record.paper} Y"), record.scaling.get("points", {})
    shares = {a: points.get(a, {}).get("share") for a in (*PHASES, "dredc", "bfc")}
    return Compared(record.name, {a: (theirs.get(f"{a} share"), share) for a, share in shares.items()})


def _largest(record: Record) -> Compared:
    """The last point of the curves, which is the largest break-even point."""
    theirs = row("journal-8", f"{record.paper} Y")
    last = (record.scaling.get("curves") or [{}])[-1]
    again = {"rematerialise s": last.get("rematerialise")}
    ours = again | {f"{a} s": last.get(a, {}).get("delete") for a in PHASES}
    ours |= {f"{a} derivations": sum(last.get(a, {}).get("instances", {}).values()) or None for a in PHASES}
    pairs = [(f"{a} s", "rematerialise s") for a in PHASES]
    pairs += [(f"{a} derivations", "counting derivations") for a in ("dred", "fbf")]
    return Compared(record.name, _ratios(theirs, ours, pairs))


def _added(record: Record) -> Compared:
    theirs = row("journal-9", f"{record.paper} Y")
    last = (record.scaling.get("curves") or [{}])[-1]
    ours = {f"{a} s": last.get(a, {}).get("add") for a in ("counting", "dred")}
    return Compared(record.name, _ratios(theirs, ours, [("counting s", "dred s")]))


COUNTERS = (("dred s", "dredc s"), ("fbf s", "bfc s"), ("dredc s", "bfc s"))
ALGORITHMS = ("dredc", "dred", "bfc", "fbf")


def _counted(record: Record) -> Compared:
    ours = {f"{a} s": record.seconds(a) for a in ALGORITHMS}
    return Compared(record.name, _ratios(row("thesis-4.2", record.paper), ours, COUNTERS))


def _large(record: Record) -> Compared:
    theirs, scaling = row("thesis-4.3", record.paper), record.scaling
    stopped, seconds = scaling.get("cut_off", ()), scaling.get("seconds", {})
    ours = {f"{a} s": seconds.get(a) for a in ALGORITHMS if a not in stopped}
    share = over(scaling.get("largest"), scaling.get("explicit"))
    return Compared(record.name, {"share": (theirs.get("share"), share), **_ratios(theirs, ours, COUNTERS)})


def _rematerialising(record: Record) -> Compared:
    """The nonrecursive counter is measured as a step after materialising, both as users have them."""
    first = record.update().get("first", {})
    one = first.get("first", 0.0) + first.get("nonrecursive", 0.0) or None
    theirs = row("thesis-4.4", record.paper)
    pairs = _ratios(theirs, {}, [("nonrecursive counter s", "none s"), ("both counters s", "none s")])
    both = over(record.made(False, "dredc").get("seconds"), record.made(False).get("seconds"))
    ours = (over(one, first.get("first")), both)
    return Compared(
        record.name, {column: (pair[0], figure) for (column, pair), figure in zip(pairs.items(), ours, strict=True)}
    )
