"""The promises about RDF and ontologies, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.report import Results, Target

FACTOR = 100


def targets(reasoned: Sequence[Results], asked: Sequence[Results]) -> list[Target]:
    records = {(one["workload"], one["system"]): one for one in reasoned}
    return [_faster(records), _much_faster(records), _lower(records), *_answers(asked)]


def _faster(records: Mapping[tuple[str, str], Results]) -> Target:
    promise = "LUBM with 10 universities materialised by the OWL 2 RL rules faster than by reasonable"
    ours, theirs = (_seconds(records, "lubm-10", name) for name in ("everlog rl", "reasonable"))
    if ours is None or theirs is None:
        return _missing(promise, records, "lubm-10")
    least = "at least " if "stopped" in records["lubm-10", "reasonable"] else ""
    shown = f"{least}{theirs / ours:.1f} times ({ours:.2f} s, {theirs:.1f} s)"
    return Target("materialising", promise, shown + _by_cpu(records, "lubm-10", "reasonable"), theirs > ours)


def _much_faster(records: Mapping[tuple[str, str], Results]) -> Target:
    promise = f"at least {FACTOR} times faster than owlrl on what it can hold"
    ours, theirs = (_seconds(records, "lubm-1", name) for name in ("everlog rl", "owlrl"))
    if ours is None or theirs is None:
        return _missing(promise, records, "lubm-1")
    shown = f"{theirs / ours:.0f} times on lubm-1 ({ours:.2f} s, {theirs:.1f} s){_by_cpu(records, 'lubm-1', 'owlrl')}"
    return Target("materialising", promise, shown, theirs / ours >= FACTOR)


def _lower(records: Mapping[tuple[str, str], Results]) -> Target:
    promise = "the lower program makes 137,933 facts of the published university"
    one = records.get(("lubm-1", "everlog lower"))
    if one is None or "triples" not in one:
        return _missing(promise, records, "lubm-1")
    return Target("facts", promise, f"{one['triples']:,}", one["triples"] == 137_933)


def _answers(asked: Iterable[Results]) -> Iterable[Target]:
    promise = "the 14 queries have the same number of answers as by pyoxigraph"
    for one in asked:
        ours, theirs = (one[name].get("queries") for name in ("everlog", "pyoxigraph"))
        if not ours or not theirs:
            yield Target(f"queries, {one['workload']}", promise)
            continue
        same = sum(ours[name]["answers"] == theirs[name]["answers"] for name in ours)
        yield Target(f"queries, {one['workload']}", promise, f"{same} of {len(ours)}", same == len(ours))


def _by_cpu(records: Mapping[tuple[str, str], Results], workload: str, system: str) -> str:
    """The comparison by processor time, which other work on the machine hardly changes."""
    ours, theirs = (records[workload, name].get("cpu") for name in ("everlog rl", system))
    return f"; by processor time {theirs / ours:.0f} times ({ours:.2f} s, {theirs:.1f} s)" if ours and theirs else ""


def _seconds(records: Mapping[tuple[str, str], Results], workload: str, system: str) -> float | None:
    """Seconds of reasoning; for a stopped system, the seconds until it was stopped."""
    one = records.get((workload, system), {})
    return one.get("reason", one.get("stopped"))


def _missing(promise: str, records: Mapping[tuple[str, str], Results], workload: str) -> Target:
    ours = records.get((workload, "everlog rl"), {})
    failed = "error" in ours
    return Target("materialising", promise, f"everlog: {ours['error']}" if failed else "-", False if failed else None)
