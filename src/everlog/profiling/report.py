"""A profile as a page: tables and plots in one self-contained file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html import escape

from everlog.host.memory import size_text
from everlog.lang.html import html_table
from everlog.profiling.figures import Figures
from everlog.profiling.plots import bars, lines
from everlog.profiling.tables import PHASES, summary, tables

BARS = 20
"""Maximum number of rules in the plot of bars."""

ROWS = 50
"""Maximum number of rows in a table."""

STYLE = """
.everlog-profile { font: 14px/1.45 system-ui, sans-serif; max-width: 60rem; color: #1c2430; }
.everlog-profile h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
.everlog-profile p { margin: .2rem 0 .6rem; color: #556; }
.everlog-profile svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.everlog-profile .bar { fill: #3b6fb6; }
.everlog-profile .line { fill: none; stroke: #3b6fb6; stroke-width: 1.8; }
.everlog-profile .dot { fill: #3b6fb6; }
.everlog-profile .grid { stroke: #dde2ea; }
.everlog-profile .value { fill: #556; }
.everlog-profile .label { fill: #1c2430; font-family: ui-monospace, monospace; font-size: 11px; }
.everlog-profile table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.everlog-profile th, .everlog-profile td { padding: .15rem .7rem .15rem 0; text-align: right; vertical-align: top; }
.everlog-profile th { border-bottom: 1px solid #c6ccd8; font-weight: 600; }
.everlog-profile .text { text-align: left; }
"""


def page(profile: Figures, title: str) -> str:
    made = datetime.now().astimezone().isoformat(timespec="seconds")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f'<body style="margin:2rem"><h1 style="font:600 1.3rem system-ui, sans-serif">{escape(title)}</h1>\n'
        f'{body(profile)}<p style="font:12px system-ui, sans-serif;color:#778">{escape(made)}</p></body></html>\n'
    )


def body(profile: Figures) -> str:
    """The tables and plots of the page, which notebooks show, too."""
    parts = [f"<style>{STYLE}</style>", f"<p>{escape(summary(profile))}</p>"]
    for title, note, drawn in _plots(profile):
        if drawn:
            parts.append(f"<h2>{escape(title)}</h2><p>{escape(note)}</p>{drawn}")
    for table in tables(profile, ROWS):
        if table.rows:
            shown = html_table(table.columns, table.rows, len(table.rows) + table.more, numbers=range(table.left))
            parts.append(f"<h2>{escape(table.title.capitalize())}</h2><p>{escape(table.note)}</p>{shown}")
    return f'<div class="everlog-profile">{"".join(parts)}</div>'


def _plots(profile: Figures) -> Iterator[tuple[str, str, str]]:
    """Each plot with its title and an explanation."""
    if profile.phases:
        yield "Time of the command", "Seconds by phase.", bars(list(profile.phases.items()), _seconds)
    rules = [(f"{each.rule} [{PHASES.get(each.phase, each.phase)}]", each) for each in profile.rules[:BARS]]
    note = "Seconds in which a rule met facts and repeated heads were dropped; the rules of a module share its bar."
    yield "Time by rule", note, bars([(label, each.seconds) for label, each in rules], _seconds)
    counted = [(label, float(each.instances)) for label, each in rules if each.instances]
    note = "How often the body of a rule was matched."
    yield "Instances by rule", note, bars(sorted(counted, key=lambda row: -row[1]), _number)
    rounds = [(float(number), float(each.new_facts)) for number, each in enumerate(profile.rounds, 1)]
    note = "New facts (or facts removed, below zero) in each round, the rounds of all strata in their order."
    yield "Facts by round", note, lines(rounds, lambda x: f"round {x:.0f}", _number)
    held = [(each.begun + each.seconds, float(each.facts)) for each in profile.rounds]
    yield "Facts over time", "Number of facts at each second.", lines(held, _seconds, _number)
    memory = [(at, float(size)) for at, size in profile.memory]
    note = "What this process held in memory, files that are only mapped left out."
    yield "Memory over time", note, lines(memory, _seconds, lambda size: size_text(int(size)))


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"


def _number(value: float) -> str:
    return f"{value:,.0f}"
