"""The promises about the papers' programs and data, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from bench.maintenance.setting import ALGORITHMS, REMATERIALISE_COUNTED
from bench.papers.compared import PaperTable
from bench.papers.records import Record, over
from bench.papers.sequential import COUNTED
from bench.report import Results, Target

BACKWARD = ("UOBM-L", "UOBM-U", "Reactome-L", "Reactome-U")
"""The datasets whose backward instances are compared with those of the sequential algorithms."""

MODULAR = ("RO", "Claros-LE", "LUBM-LE-1", "LUBM-LE-10")
MODULES = {"LUBM-LE-1": (1, 2), "LUBM-LE-10": (1, 2), "Claros-LE": (27, 2)}
"""Published numbers of transitive and of symmetric-transitive modules."""

BEHIND = 1.1
"""Maximum of the time and the memory with modules, divided by those without."""

SLACK = 0.02
"""Seconds that auto may always take longer than the best algorithm."""


def targets(records: Sequence[Record], growth: Results, tables: Sequence[PaperTable]) -> list[Target]:
    by_name = {record.name: record for record in records}
    return [
        _backward([by_name[name] for name in BACKWARD if name in by_name]),
        _upper(by_name.get("UOBM-U")),
        *_modules([by_name[name] for name in MODULAR if name in by_name]),
        *_found(by_name),
        *_counters(records),
        _auto(records),
        _growth(growth),
        _explained(tables),
    ]


def _backward(records: Sequence[Record]) -> Target:
    promise = "backward instances of deleting 1,000 facts at most twice those of the sequential algorithms"
    ratios, seen = dict[str, float](), list[str]()
    for record in records:
        sequential = record.update().get("sequential", {})
        for algorithm in COUNTED:
            ours = record.instances(algorithm).get("backward")
            theirs = sequential.get(algorithm, {}).get("backward")
            if ours is not None:
                seen.append(f"{record.name} {algorithm} {ours:,.0f}")
            if ours and theirs:
                ratios[f"{record.name} {algorithm}"] = ours / theirs
    if not ratios:
        return Target("backward", promise, "; ".join(seen) or "-")
    worst = max(ratios, key=ratios.__getitem__)
    return Target("backward", promise, f"{ratios[worst]:.1f} times at worst ({worst})", ratios[worst] <= 2)


def _upper(record: Record | None) -> Target:
    promise = "UOBM-U: B/F^c deletes 1,000 facts faster than DRed^c"
    ours = over(record.seconds("dredc"), record.seconds("bfc")) if record else None
    return Target("backward", promise) if ours is None else Target("backward", promise, f"{ours:.2f} times", ours > 1)


def _modules(records: Sequence[Record]) -> Iterator[Target]:
    """Materialising without bookkeeping and deleting by DRed^c, with modules divided by without."""
    promises = {
        "materialising": "materialising with modules never more than a tenth behind, in time and memory",
        "deleting": "deleting 1,000 facts with modules never more than a tenth behind",
        "median": "with modules ahead on the median",
    }
    times = {r.name: over(r.made(True).get("seconds"), r.made(False).get("seconds")) for r in records}
    held = {r.name: over(r.made(True).get("held"), r.made(False).get("held")) for r in records}
    deleting = {r.name: over(r.seconds("dredc", modules=True), r.seconds("dredc")) for r in records}
    made = {f"{name} {what}": x for what, each in (("time", times), ("memory", held)) for name, x in each.items()}
    yield _worst("modules", promises["materialising"], made, BEHIND)
    yield _worst("modules", promises["deleting"], deleting, BEHIND)
    known = [x for x in (*times.values(), *deleting.values()) if x is not None]
    middle = median(known) if known else None
    shown = "-" if middle is None else f"{middle:.2f} times"
    yield Target("modules", promises["median"], shown, None if middle is None else middle < 1)


def _worst(topic: str, promise: str, ratios: Mapping[str, float | None], limit: float) -> Target:
    known = {name: each for name, each in ratios.items() if each is not None}
    if not known:
        return Target(topic, promise)
    worst = max(known, key=known.__getitem__)
    kept = sum(each <= limit for each in known.values())
    return Target(
        topic, promise, f"{kept} of {len(known)}, at worst {known[worst]:.2f} times ({worst})", kept == len(known)
    )


def _found(by_name: Mapping[str, Record]) -> Iterator[Target]:
    for name, published in MODULES.items():
        promise = f"{name}: {published[0]} transitive and {published[1]} symmetric-transitive modules"
        made = by_name[name].made(True) if name in by_name else {}
        if not made:
            yield Target("modules", promise)
            continue
        found = tuple(made["found"].get(kind, 0) for kind in ("transitive", "symmetric-transitive"))
        yield Target("modules", promise, f"{found[0]} and {found[1]}", found == published)


def _counters(records: Sequence[Record]) -> Iterator[Target]:
    for what, maintain in (("counters", "dredc"), ("a trace", "counting")):
        for modules in (False, True):
            ratios = {
                record.name: each
                for record in records
                if (each := over(record.made(modules, maintain).get("seconds"), record.made(modules).get("seconds")))
            }
            form = "with modules" if modules else "without modules"
            promise = f"materialising with {what}, {form}: 1.3 times without on the median, 1.8 at most"
            if not ratios:
                yield Target("counters", promise)
                continue
            worst, middle = max(ratios, key=ratios.__getitem__), median(ratios.values())
            shown = f"{middle:.2f} on the median, {ratios[worst]:.2f} at most ({worst})"
            yield Target("counters", promise, shown, middle <= 1.3 and ratios[worst] <= 1.8)


def _auto(records: Sequence[Record]) -> Target:
    """The state of auto has counters, so it is compared with rematerialising with counters."""
    promise = "auto within 1.5 times the best algorithm plus 20 ms on 90% of the updates"
    within = []
    for record in records:
        for stratification, modules in (("levels", False), ("levels", True), ("single", False)):
            for kind in ("delete", "add"):
                variant: dict[str, Any] = {"stratification": stratification, "modules": modules}
                taken = record.seconds("auto", kind, **variant)
                others = [*(a for a in ALGORITHMS if a != "auto"), REMATERIALISE_COUNTED]
                best = [s for a in others if (s := record.seconds(a, kind, **variant)) is not None]
                if best:
                    within.append(taken is not None and taken <= 1.5 * min(best) + SLACK)
    if not within:
        return Target("auto", promise)
    share = sum(within) / len(within)
    return Target("auto", promise, f"{share:.0%} of {len(within)}", share >= 0.9)


def _growth(growth: Results) -> Target:
    promise = "a hierarchy that 180 updates built takes at most 1.5 times the memory of one built at once"
    if "grown" not in growth:
        return Target("growth", promise)
    ours = _bytes(growth["grown"]) / _bytes(growth["at_once"])
    return Target("growth", promise, f"{ours:.2f} times", ours <= 1.5)


def _bytes(memory: Results) -> float:
    return float(memory["facts"] + memory["bookkeeping"])


def _explained(tables: Sequence[PaperTable]) -> Target:
    promise = "a sentence for every ratio that differs from a paper's by more than 2 times"
    differences = [each for table in tables for each in table.differences()]
    if not any(table.measured for table in tables):
        return Target("papers", promise)
    explained = sum(reason is not None for _, _, reason in differences)
    return Target("papers", promise, f"{explained} of {len(differences)}", explained == len(differences))
