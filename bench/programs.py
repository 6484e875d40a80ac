"""The measured programs: rules for the Datalog systems, SQL for DuckDB.

All Datalog systems run one rule text: Everlog and Nemo read it unchanged, clingo and Souffle with variables in their
own syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Loop:
    """Semi-naive rounds in SQL: ``first`` fills the goal, ``step`` reads the goal and ``delta``."""

    first: str
    step: str


@dataclass(frozen=True)
class Program:
    """Rules over the binary relations ``inputs``; the answers are the facts of ``goal``."""

    name: str
    goal: str
    inputs: tuple[str, ...]
    rules: str
    recursive_sql: str | None = None
    loop_sql: Loop | None = None

    def clingo(self) -> str:
        """The rules with variables in capitals.

        >>> LINEAR.clingo().splitlines()[0]
        'path(X, Y) :- edge(X, Y) .'
        """
        return re.sub(r"\?(\w+)", lambda match: match[1].upper(), self.rules)

    def souffle(self, kind: str) -> str:
        """The rules with declarations; ``kind`` is the type of all columns, number or symbol."""
        columns = f"(x: {kind}, y: {kind})"
        declared = [f'.decl {name}{columns}\n.input {name}(filename="{name}.tsv")' for name in self.inputs]
        declared.append(f".decl {self.goal}{columns}\n.printsize {self.goal}")
        return "\n".join([*declared, self.rules.replace("?", "").replace(" .", ".")])


LINEAR = Program(
    name="linear",
    goal="path",
    inputs=("edge",),
    rules="path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .",
    recursive_sql="""
        SELECT x, y FROM edge
        UNION
        SELECT path.x, edge.y FROM path JOIN edge ON path.y = edge.x""",
)

NONLINEAR = Program(
    name="nonlinear",
    goal="path",
    inputs=("edge",),
    rules="path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), path(?y, ?z) .",
    loop_sql=Loop(
        first="SELECT x, y FROM edge",
        step="""
            SELECT delta.x, path.y FROM delta JOIN path ON delta.y = path.x
            UNION ALL
            SELECT path.x, delta.y FROM path JOIN delta ON path.y = delta.x""",
    ),
)

SAME_GENERATION = Program(
    name="same-generation",
    goal="sg",
    inputs=("arc",),
    rules="sg(?x, ?y) :- arc(?p, ?x), arc(?p, ?y) .\nsg(?x, ?y) :- arc(?a, ?x), sg(?a, ?b), arc(?b, ?y) .",
    recursive_sql="""
        SELECT l.y AS x, r.y FROM arc l JOIN arc r ON l.x = r.x
        UNION
        SELECT l.y, r.y FROM arc l JOIN sg ON l.x = sg.x JOIN arc r ON sg.y = r.x""",
)

PROGRAMS = {program.name: program for program in (LINEAR, NONLINEAR, SAME_GENERATION)}
