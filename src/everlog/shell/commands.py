"""The commands of the shell, which begin with a colon."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everlog.lang.codes import Code
from everlog.lang.errors import RuleError
from everlog.shell.session import Session

if TYPE_CHECKING:
    from everlog.analysis.check import CheckedProgram
    from everlog.kb.change import Change
    from everlog.kb.knowledge_base import KnowledgeBase


@dataclass(frozen=True)
class Command:
    """A command: a function of the text after its name; ``files`` is whether that text is a path."""

    usage: str
    help: str
    run: Callable[[Session, str], None]
    files: bool = False


def run_command(session: Session, text: str) -> None:
    """Find the command that a text begins with, and run it."""
    name, *others = re.split(r"[ \n]", text.strip(), maxsplit=1)
    rest, found = "".join(others).strip(), _command(name)
    if not rest and found.usage.partition(" ")[2].strip() and "[" not in found.usage:
        raise RuleError.of(Code.MISSING_ARGUMENT, f"`{name}` needs something more", None, f"write `{found.usage}`")
    found.run(session, rest)


def _command(name: str) -> Command:
    """The command with a name; an error names the closest one if there is none."""
    found = COMMANDS.get(ALIASES.get(name, name))
    if found is not None:
        return found
    from difflib import get_close_matches

    close = get_close_matches(name, list(COMMANDS), n=1)
    hint = f"did you mean `{close[0]}`?" if close else "`:help` lists the commands"
    raise RuleError.of(Code.UNKNOWN_COMMAND, f"there is no command `{name}`", None, hint)


def _help(session: Session, text: str) -> None:
    if text:
        found = _command(text if text.startswith(":") else f":{text}")
        session.write(f"{found.usage}  {found.help}")
        return
    rows = [*TYPED.items(), *((each.usage, each.help) for each in COMMANDS.values())]
    width = max(len(usage) for usage, _ in rows)
    for usage, meaning in rows:
        session.write(f"{usage.ljust(width)}  {meaning}")


def _sparql(session: Session, text: str) -> None:
    from everlog.query.sparql.parsing import is_update
    from everlog.shell.answers import result_lines

    if is_update(text):
        session.applied("a SPARQL update", lambda: session.kb.sparql_update(text))
        return
    for line in result_lines(session.kb.sparql(text), session.limit, session.prefixes):
        session.write(line)


def _rules(session: Session, text: str) -> None:
    from everlog.lang.printer import print_rule

    rules = _program(session).written
    assert rules is not None
    for rule in rules.rules:
        session.write(print_rule(rule, session.prefixes))
    if not rules.rules:
        session.write("there are no rules; type one, such as `path(?x, ?y) :- edge(?x, ?y) .`")


def _predicates(session: Session, text: str) -> None:
    from everlog.lang.layout import aligned
    from everlog.lang.printer import print_name

    state = session.kb.state()
    rows = [
        (
            f"{print_name(p.name, session.prefixes)}/{p.arity}",
            f"{len(state.facts.relation(p)):,}",
            f"{len(state.explicit.relation(p)):,}",
        )
        for p in sorted(session.kb.predicates)
    ]
    for line in aligned(("predicate", "facts", "explicit"), rows) if rows else ["there are no predicates"]:
        session.write(line)


def _stats(session: Session, text: str) -> None:
    from everlog.host.memory import size_text

    kb = session.kb
    facts, explicit = kb.state().facts.count, kb.state().explicit.count
    memory = ", ".join(f"{name} {size_text(size)}" for name, size in kb.memory.items())
    session.write(f"facts   {facts:,}: {explicit:,} explicit, {facts - explicit:,} derived")
    session.write(f"rules   {len(_program(session).rules):,} in {len(kb.program.strata):,} strata")
    session.write(f"memory  {memory}")
    if kb.saved is not None:
        session.write(f"store   {kb.saved.path}, version {kb.saved.version}")


def _profile(session: Session, text: str) -> None:
    session.write("nothing was reasoned about yet" if session.kb.profile is None else str(session.kb.profile))


def _load(session: Session, text: str) -> None:
    """Add the contents of a file: rules if it is a rule file, otherwise facts, also those of an ontology."""
    from everlog.lang.parser import parse_file

    if text.endswith(".rls"):
        session.change(parse_file(text, session.kb.program.program.prefixes))
    else:
        session.applied(f"loading {text}", lambda: [_loaded(session.kb, text)])


def _loaded(kb: KnowledgeBase, path: str) -> Change:
    """Insert the facts of ``[NAME=]PATH``, read by this process."""
    from everlog.engine.factset import NONE
    from everlog.ingest.into_memory import read_files
    from everlog.ingest.sources import ReadOptions

    arities = {p.name: p.arity for p in kb.predicates if not p.name.startswith("<")}
    options = ReadOptions(prefixes=dict(kb.program.program.prefixes), arities=arities)
    read = read_files(path, options, kb.state().dictionary, kb._headers)
    kb.declare(read.prefixes)
    kb.warn_of_facts(read.kinds, read.named)
    return kb.update_facts(read.facts, NONE, kinds=read.kinds, profile=True)


def _save(session: Session, text: str) -> None:
    version = session.kb.save(text or None, wait=session.wait)
    session.saved = True
    assert session.kb.saved is not None
    session.write(f"saved {session.kb.saved.path}, version {version}")


def _limit(session: Session, text: str) -> None:
    if not text.isdigit():
        raise RuleError.of(Code.NOT_A_NUMBER, f"`{text}` is not a number", None, "write `:limit 100`")
    session.limit = int(text)


def _quit(session: Session, text: str) -> None:
    if not session.saved and session.kb.saved is not None and session.asks:
        session.saved = True
        session.write("there are changes that are not saved: `:save` saves them, `:quit` again leaves without")
        return
    session.over = True


def _program(session: Session) -> CheckedProgram:
    return session.kb.program.program


TYPED: Mapping[str, str] = {
    "path(?x, ?y) :- edge(?x, ?y) .": "add a rule",
    "edge(a, b) .": "add a fact; several may follow each other, on several lines",
    "- edge(a, b) .": "remove a fact, or a rule",
    "? path(a, ?x)": "ask: all values that make it true",
    "@prefix ex: <http://e.org/> .": "let ex:name stand for an IRI",
}
"""The kinds of input other than commands, with their effect."""

COMMANDS: Mapping[str, Command] = {
    ":explain": Command(":explain FACT", "why a fact holds, or each answer to a query, or why not", Session.explain),
    ":sparql": Command(":sparql QUERY", "ask in SPARQL, or change facts by a SPARQL update", _sparql),
    ":rules": Command(":rules", "the rules", _rules),
    ":predicates": Command(":predicates", "the predicates with the numbers of their facts", _predicates),
    ":stats": Command(":stats", "facts, rules, memory", _stats),
    ":profile": Command(":profile", "where the time of the last change went", _profile),
    ":load": Command(":load [NAME=]FILE", "add the rules or facts of a file", _load, files=True),
    ":save": Command(
        ":save [STORE]", "write a store, or the next version of the one that was opened", _save, files=True
    ),
    ":undo": Command(":undo", "go back to before the last change", lambda session, _: session.undo()),
    ":limit": Command(":limit N", "show at most N answers", _limit),
    ":help": Command(":help [COMMAND]", "this", _help),
    ":quit": Command(":quit", "leave; so does Ctrl-D", _quit),
}

ALIASES: Mapping[str, str] = {
    ":why": ":explain",
    ":why-not": ":explain",
    ":q": ":quit",
    ":exit": ":quit",
    ":h": ":help",
    ":": ":help",
}
