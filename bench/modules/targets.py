"""The promises about modules and compact relations, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.report import Results, Target

DAG = "dag-r-nonlinear"
CATEGORIES = "categories"

Records = Mapping[tuple[str, str], Results]


def targets(results: Results) -> list[Target]:
    records = {(one["workload"], one["form"]): one for one in results["forms"]}
    return [
        *_dag(records, results["held"]),
        _listing(results["columns"]),
        *_categories(records),
        _component(results["components"]),
        *_queries(records),
        _sizes(results["sizes"]),
    ]


def _dag(records: Records, held: Results) -> list[Target]:
    general, compact = records.get((DAG, "standard"), {}), records.get((DAG, "compact"), {})
    return [
        _faster(general, compact),
        _smaller(held),
        _changed("deleted", compact, "delete"),
        _changed("inserted again", compact, "insert"),
    ]


def _faster(general: Results, compact: Results) -> Target:
    promise = "nonlinear DAG-R with modules at least 1,000 times faster than seminaive evaluation"
    slow, fast = seconds_of(general), seconds_of(compact)
    if slow is None or fast is None or not is_full(compact):
        return _failed("DAG-R", promise, general, compact)
    cut = "at least " if general["materialise"]["seconds"] is None else ""
    return Target("DAG-R", promise, f"{cut}{slow / fast:,.0f} times ({slow:.3g} s, {fast * 1000:.3g} ms)",
                  slow / fast >= 1_000)  # fmt: skip


def _smaller(held: Results) -> Target:
    """The target of memory, judged by a knowledge base with default bookkeeping. Without bookkeeping, which is the
    larger part, the pairs have one sort order only."""
    promise = "DAG-R with modules in 20 times less held memory than plain, everything included"
    if "dredc" not in held or held["dredc"]["modules"]["pairs"] < 20_000_000:
        return _failed("DAG-R", promise, held)
    ratios = {how: one["general"]["bytes"] / one["modules"]["bytes"] for how, one in held.items()}
    ours, theirs = (held["dredc"][how]["bytes"] / 1e6 for how in ("modules", "general"))
    counted = f"{ratios['dredc']:.1f} times ({ours:.1f} MB, {theirs:,.0f} MB)"
    shown = f"{counted}; without bookkeeping {ratios['none']:.1f} times"
    return Target("DAG-R", promise, shown, ratios["dredc"] >= 20)


def _changed(what: str, compact: Results, kind: str) -> Target:
    promise = f"1,000 random edges of DAG-R {what} in less than 20 times materialising it"
    made, taken = seconds_of(compact), compact.get(kind, {}).get("median")
    if made is None or taken is None or not is_full(compact):
        return _failed("DAG-R", promise, compact)
    return Target("DAG-R", promise, f"{taken / made:.1f} times ({taken * 1000:.0f} ms)", taken < 20 * made)


def _listing(columns: Results) -> Target:
    promise = "the pairs of DAG-R listed as dictionary-encoded Arrow columns in under 2 s, counted without listing"
    if "list" not in columns or columns["pairs"] < 20_000_000:
        return _failed("DAG-R", promise, columns)
    shown = f"{columns['list']:.2f} s for {columns['pairs']:,} pairs; counted in {columns['count'] * 1e6:.0f} µs"
    return Target("DAG-R", promise, shown, columns["list"] < 2 and columns["count"] < 0.001)


def _categories(records: Records) -> Iterator[Target]:
    compact = records.get((CATEGORIES, "compact"), {})
    made = seconds_of(compact)
    promises = {
        "made": "a category graph with over a billion pairs materialised in under 4 GB",
        "contains": "a million random look-ups in it in under 2 s",
        "delete_one": "one random edge of it deleted in under 1% of materialising it (median of 100)",
        "insert_one": "one random edge of it inserted in under 1% of materialising it (median of 100)",
    }
    if made is None or compact["pairs"] < 1_000_000_000:
        yield from (_failed("categories", promise, compact) for promise in promises.values())
        return
    shown = f"{compact['peak_mb'] / 1000:.2f} GB, {compact['pairs']:,} pairs in {made:.1f} s"
    yield Target("categories", promises["made"], shown, compact["peak_mb"] < 4_000)
    yield Target("categories", promises["contains"], f"{compact['contains']:.2f} s", compact["contains"] < 2)
    for kind in ("delete_one", "insert_one"):
        one = compact.get(kind, {})
        if one.get("median") is None:
            yield _failed("categories", promises[kind], compact)
        else:
            shown = f"{one['median'] * 1000:.1f} ms, {one['median'] / made:.2%} (of {one['runs']})"
            yield Target("categories", promises[kind], shown, one["median"] < 0.01 * made)


def _component(components: Sequence[Results]) -> Target:
    promise = "one edge of a 500-node component deleted 100 times cheaper than by dredc on general rules"
    by_form = {one["form"]: one for one in components if one.get("nodes") == 500 and "delete" in one}
    if by_form.keys() < {"standard", "compact"}:
        return _failed("components", promise, *components)
    general, module = by_form["standard"]["delete"], by_form["compact"]["delete"]["median"]
    cut = "at least " if general["median"] is None else ""
    slow = general["cut_off"] if general["median"] is None else general["median"]
    shown = f"{cut}{slow / module:,.0f} times ({slow * 1000:,.0f} ms, {module * 1000:.2g} ms)"
    return Target("components", promise, shown, slow / module >= 100)


def _queries(records: Records) -> Iterator[Target]:
    for family in ("closure", "union"):
        bound, counts = {}, {}
        for (name, form), record in records.items():
            for one in record.get("queries", {}).get(family, ()) if form == "compact" else ():
                key = f"{name} {one['query']}"
                if one["bound"] and "rows_ratio" in one:
                    bound[key] = one["rows_ratio"]
                if "count_ratio" in one:
                    counts[key] = one["count_ratio"]
        within = f"queries on a {family} with a bound argument within 3 times of plain"
        faster = f"counting the answers of queries on a {family} faster than in plain pairs"
        yield _worst(within, bound, 3)
        yield _worst(faster, counts, 1)


def _worst(promise: str, ratios: Mapping[str, float], limit: float) -> Target:
    if not ratios:
        return Target("queries", promise)
    worst = max(ratios, key=ratios.__getitem__)
    kept = sum(ratio <= limit for ratio in ratios.values())
    shown = f"{kept} of {len(ratios)}, at worst {ratios[worst]:.2f} times ({worst})"
    return Target("queries", promise, shown, kept == len(ratios))


def _sizes(sizes: Results) -> Target:
    promise = "all published closure sizes come out, for the linear and the nonlinear rule"
    if not sizes.get("sizes"):
        return _failed("sizes", promise, sizes)
    wrong = [one["name"] for one in sizes["sizes"] if set(one["pairs"].values()) != {one["published"]}]
    return Target("sizes", promise, f"not {', '.join(wrong)}" if wrong else f"{len(sizes['sizes'])} of them", not wrong)


def seconds_of(record: Results) -> float | None:
    """The seconds of materialising, or those after which it was stopped."""
    made = record.get("materialise", {"seconds": None, "cut_off": None})
    return made["cut_off"] if made["seconds"] is None else made["seconds"]


def is_full(record: Results) -> bool:
    """Whether DAG-R was measured at full size."""
    return record.get("pairs", 0) > 20_000_000


def _failed(topic: str, promise: str, *records: Results) -> Target:
    """A missed target if Everlog failed, otherwise one that was not measured."""
    errors = [one["error"] for one in records if "error" in one]
    return Target(topic, promise, f"everlog: {errors[0]}" if errors else "-", False if errors else None)
