"""Programs and modules: tables 1 and 2 of the journal paper, 5.5 to 5.7 of the thesis, 1 to 3 of the storage paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.papers.compared import Compared, Pair, PaperTable
from bench.papers.figures import FIGURES, row
from bench.papers.records import Record, over, ratio
from bench.papers.sweep import CLOSURE, SHARES, UNION
from bench.report import Results

FORMS = {"standard": "rules", "plain": "listed", "compact": "compact"}
"""The forms, as the rows of the figures name them."""


def tables(records: Sequence[Record], sweep: Sequence[Results]) -> list[PaperTable]:
    return [
        PaperTable("journal-1", "Programs", list(map(_program, records))),
        PaperTable("thesis-5.5", "Modules", list(map(_modules, records))),
        PaperTable("thesis-5.6", "Materialising with modules", list(map(_materialising, records))),
        PaperTable("thesis-5.7", "Updates with modules", list(map(_updates, records))),
        PaperTable("storage-1", "Insertions into a category graph", list(_rounds(sweep))),
        PaperTable(
            "storage-2", "Storage schemes", [*map(_share, SHARES, [sweep] * len(SHARES)), *map(_relations, records)]
        ),
        PaperTable("storage-3", "Queries on half of the category graph, compact / listed", list(_queries(sweep))),
    ]


def _program(record: Record) -> Compared:
    """Numbers of rules; the thesis has those of an upper bound that the journal does not."""
    journal, thesis = row("journal-1", record.paper), row("thesis-4.1", record.paper)
    levels = FIGURES["journal-2"]["rows"].get(record.paper, ())
    made = record.made(False) or record.made(True)
    ours = made.get("strata", ())
    pairs: dict[str, Pair] = {
        "rules": (journal.get("rules") or thesis.get("nonrecursive", 0) + thesis.get("recursive", 0) or None,
                  sum(every for _, every in ours) or None),
        "recursive": (sum(r for r, _ in levels) or thesis.get("recursive"), sum(r for r, _ in ours) if ours else None),
        "strata": (len(levels) or thesis.get("strata"), len(ours) or None),
        "facts / explicit": (ratio(journal, "facts", "explicit"), ratio(made, "facts", "explicit")),
    }  # fmt: skip
    return Compared(record.name, pairs)


def _modules(record: Record) -> Compared:
    theirs, made = row("thesis-5.5", record.paper), record.made(True)
    pairs: dict[str, Pair] = {
        kind: (theirs.get(kind), made.get("found", {}).get(kind, 0) if made else None)
        for kind in ("transitive", "symmetric-transitive")
    }
    pairs["facts / explicit"] = ratio(theirs, "facts", "explicit"), ratio(made, "facts", "explicit")
    return Compared(record.name, pairs)


def _materialising(record: Record) -> Compared:
    theirs, (plain, modules) = row("thesis-5.6", record.paper), (record.made(used) for used in (False, True))
    pairs: dict[str, Pair] = {}
    pairs["rules s / modules s"] = ratio(theirs, "rules s", "modules s"), _over(plain, modules, "seconds")
    for figure in ("instances", "held", "peak_mb"):
        pairs[f"{figure}: rules / modules"] = None, _over(plain, modules, figure)
    return Compared(record.name, pairs)


def _over(above: Results, below: Results, key: str) -> float | None:
    return over(above.get(key), below.get(key))


def _updates(record: Record) -> Compared:
    theirs = row("thesis-5.7", record.paper)
    pairs: dict[str, Pair] = {}
    for what, kind in (("deleting", "delete"), ("inserting", "add")):
        ours = over(record.seconds("dredc", kind), record.seconds("dredc", kind, modules=True))
        pairs[f"{what}: rules s / modules s"] = ratio(theirs, f"{what}, rules s", f"{what}, modules s"), ours
        fewer = over(record.derivations("dredc", kind), record.derivations("dredc", kind, modules=True))
        pairs[f"{what}: instances"] = None, fewer
    runs = [record.update(modules=used).get("large", {}) for used in (False, True)]
    done = [one.get("seconds") if not one.get("cut_off", True) else None for one in runs]
    large = ratio(theirs, "25% deleted, rules s", "25% deleted, modules s")
    pairs["25% deleted: rules s / modules s"] = large, over(*done)
    return Compared(record.name, pairs)


def _form(sweep: Sequence[Results], share: int, form: str) -> Results:
    return next((one for one in sweep if (one["share"], one["form"]) == (share, form)), {})


def _schemes(theirs: Results, unit: str, ours: dict[str, Results]) -> dict[str, Pair]:
    """Seconds and memory of general rules and of listed pairs, divided by those of compact relations."""
    pairs: dict[str, Pair] = {}
    for form in ("standard", "plain"):
        name = FORMS[form]
        mine, compact = ours[form], ours["compact"]
        pairs[f"{name} s / compact s"] = ratio(theirs, f"{name} s", "compact s"), _over(mine, compact, "seconds")
        memory = ratio(theirs, f"{name} {unit}", f"compact {unit}")
        pairs[f"{name} memory / compact"] = memory, _over(mine, compact, "held")
    return pairs


def _rounds(sweep: Sequence[Results]) -> Iterator[Compared]:
    """The smaller of the paper's graphs beside a quarter of ours, the larger beside the whole."""
    for prefix, share in (("", SHARES[0]), ("large: ", SHARES[-1])):
        forms = {form: _form(sweep, share, form) for form in FORMS}
        yield Compared(f"{prefix}materialise", _schemes(row("storage-1", f"{prefix}materialise"), "MB", forms))
        for number, ordinal in enumerate(("1st", "2nd", "3rd")):
            rounds = {form: (one.get("rounds") or [{}] * 3)[number:][:1] for form, one in forms.items()}
            name = f"{prefix}{ordinal} 1,000 inserted"
            inserted = {form: each[0] if each else {} for form, each in rounds.items()}
            yield Compared(name, _schemes(row("storage-1", name), "MB", inserted))


def _share(share: int, sweep: Sequence[Results]) -> Compared:
    theirs, forms = row("storage-2", f"{share}%"), {form: _form(sweep, share, form) for form in FORMS}
    growth: Pair = ratio(theirs, "closure", "closure in"), ratio(forms["compact"], "pairs", "edges")
    return Compared(f"{share}%", {"closure / edges": growth, **_schemes(theirs, "GB", forms)})


def _relations(record: Record) -> Compared:
    """The Relations Ontology; its modules are compact."""
    if record.paper != "Relations":
        return Compared(record.name, {})
    ours = {"standard": record.made(False), "plain": {}, "compact": record.made(True)}
    return Compared(record.name, _schemes(row("storage-2", record.paper), "GB", ours))


def _queries(sweep: Sequence[Results]) -> Iterator[Compared]:
    asked = _form(sweep, 50, "compact").get("queries", {})
    for name, predicate in (("closure", CLOSURE), ("union", UNION)):
        listed, compact = row("storage-3", name), row("storage-3", f"{name} compact")
        ours = {one["query"]: one.get("rows_ratio") for one in asked.get(predicate, ())}
        yield Compared(name, {query: (over(compact[query], listed[query]), ours.get(query)) for query in listed})
