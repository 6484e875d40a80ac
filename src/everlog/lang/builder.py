"""From the syntax tree of a statement to atoms and rules, with prefixes resolved.

A mistake is reported and replaced by a stand-in, so that the rest of the text is checked too; ``finish`` raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lark import Token, Tree

from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place, RuleError
from everlog.lang.literals import iri_content, local_name, number_text, string_content
from everlog.lang.mistakes import token_span
from everlog.lang.statements import grammar
from everlog.lang.syntax import Atom, Constant, Predicate, Query, Rule, SourceText, Span, Term, Variable, Wildcard
from everlog.lang.terms import RDF_TYPE, literal_text

Node = Token | Tree[Token]

WELL_KNOWN = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""Well-known prefixes and their IRIs, which a message can suggest to declare."""

_NEGATED = "nothing is derived not to hold: derive another predicate, such as `not_p(?x)`, or negate in the body"
_TOO_LARGE = 'write it as an integer or a decimal, or infinity as `"INF"^^xsd:double`'

MOST_MISTAKES = 100
"""Maximum number of mistakes reported for one text; reading ends there."""


class ProgramBuilder:
    """Builds the statements of one source, in order."""

    def __init__(self, source: SourceText, prefixes: Mapping[str, str]) -> None:
        self.source = source
        self.prefixes = dict(prefixes)
        self._given = set(prefixes)
        self.diagnostics: list[Diagnostic] = []
        self._declared: dict[str, Span] = {}
        self._undeclared: set[str] = set()
        self._terms: dict[Token, Term] = {}
        self._predicates: dict[Token, str] = {}

    def report(self, diagnostic: Diagnostic) -> None:
        """Note a mistake; at ``MOST_MISTAKES`` all are raised, and reading ends."""
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) >= MOST_MISTAKES:
            hint = "correct these mistakes first"
            last = Diagnostic(Code.TOO_MANY_MISTAKES, f"reading ends after {MOST_MISTAKES} mistakes", None, hint)
            raise RuleError([*sorted(self.diagnostics, key=_position), last])

    def finish(self) -> None:
        """Raise everything that was reported, in the order of the text."""
        if self.diagnostics:
            raise RuleError(sorted(self.diagnostics, key=_position))

    def statement(self, tree: Tree[Token]) -> Iterator[Rule]:
        """The rules of a statement: none for a prefix, one for each head of a rule."""
        node = tree.children[0]
        assert isinstance(node, Tree)
        if node.data == "prefix":
            self._declare(*_tokens(node.children))
            return
        heads, *rest = node.children
        assert isinstance(heads, Tree)
        body = self._literals(rest[-1].children) if rest and isinstance(rest[-1], Tree) else []
        positive = tuple(atom for atom, negated in body if not negated)
        negative = tuple(atom for atom, negated in body if negated)
        written = self._literals(heads.children)
        span = self._covering(written[0][0], (body or written)[-1][0])
        for head, negated in written:
            if negated:
                self._wrong(Code.NEGATED_HEAD, "a head cannot be negated", head.span, _NEGATED)
            yield Rule(head, positive, negative, span)

    def query(self, tree: Tree[Token]) -> Query:
        """The query that a conjunction stands for."""
        literals = self._literals(tree.children)
        return Query(
            tuple(atom for atom, negated in literals if not negated),
            tuple(atom for atom, negated in literals if negated),
            tuple(dict.fromkeys(variable for atom, _ in literals for variable in atom.variables())),
            self._covering(literals[0][0], literals[-1][0]),
        )

    def predicate_named(self, text: str) -> str:
        """The predicate name in a text of one token."""
        tokens = list(grammar().lex(text))
        if len(tokens) == 1 and str(tokens[0]) == text:
            return self._predicate(tokens[0])
        hint = "write a bare name of letters, digits, `_` and `-`, a prefixed name, or an IRI as `<http://...>`"
        self._wrong(Code.INVALID_PREDICATE, f"`{text}` is not a predicate", None, hint)
        return text

    def assume_prefix(self, tokens: Sequence[Token]) -> None:
        """Take the prefix of a declaration that could not be read as declared, so that its uses are not reported."""
        if tokens[0].type == "PREFIX" and len(tokens) > 1 and tokens[1].type in ("PNAME", "NAME"):
            self.prefixes.setdefault(tokens[1].partition(":")[0], "")

    def _declare(self, keyword: Token, name: Token, iri: Token) -> None:
        prefix, _, local = name.partition(":")
        span = token_span(self.source, name)
        if local:
            hint = f"a prefix ends with the colon: `{prefix}:`"
            self._wrong(Code.SYNTAX, f"found `{name}`, expected a prefix", span, hint)
        namespace = self._iri(iri)
        if self.prefixes.get(prefix, namespace) != namespace and prefix not in self._given:
            before = self._declared.get(prefix)
            notes = (("it is declared here first", before.place),) if before is not None else ()
            message = f"the prefix `{prefix}:` is declared twice, for different IRIs"
            self.report(Diagnostic(Code.DUPLICATE_PREFIX, message, span.place, "give one of them another name", notes))
            return
        self.prefixes[prefix] = namespace
        self._given.discard(prefix)
        self._declared.setdefault(prefix, span)

    def _literals(self, nodes: Iterable[Node]) -> list[tuple[Atom, bool]]:
        """The atoms of a conjunction, each with whether it is negated."""
        literals = []
        for node in nodes:
            assert isinstance(node, Tree)
            negated = node.data == "negated"
            literals.append((self._atom(node.children[1] if negated else node), negated))
        return literals

    def _atom(self, node: Node) -> Atom:
        assert isinstance(node, Tree)
        first, *rest = node.children
        last = rest.pop()
        assert isinstance(first, Token)
        assert isinstance(last, Token)
        span = token_span(self.source, first, last)
        if node.data == "triple":
            return self._triple(rest, span)
        terms = tuple([self._term(child) for child in rest])
        return Atom(Predicate(self._predicate(first), len(terms)), terms, span)

    def _covering(self, first: Atom, last: Atom) -> Span:
        assert first.span is not None
        assert last.span is not None
        return Span(self.source, first.span.line, first.span.column, last.span.end_line, last.span.end_column)

    def _triple(self, nodes: Sequence[Node], span: Span) -> Atom:
        """The atom of a triple: ``p(s, o)`` for ``[s, p, o]``, and ``C(s)`` for ``[s, a, C]``."""
        subject, verb, object_ = nodes
        is_type = isinstance(verb, Token) and (
            (verb.type == "NAME" and verb == "a")
            or (verb.type in ("PNAME", "IRI") and self._predicate(verb) == RDF_TYPE)
        )
        if is_type:
            return Atom(Predicate(self._predicate(object_), 1), (self._term(subject),), span)
        terms = (self._term(subject), self._term(object_))
        return Atom(Predicate(self._predicate(verb), 2), terms, span)

    def _predicate(self, node: Node) -> str:
        if isinstance(node, Token):
            if node.type == "NAME":
                return str(node)
            if node.type in ("PNAME", "IRI"):
                known = self._predicates.get(node)
                if known is None:
                    self._predicates[node] = known = f"<{self._iri(node)}>"
                return known
        token = node if isinstance(node, Token) else _tokens(node.children)[0]
        span = token_span(self.source, token)
        hint = "a predicate is a name, a prefixed name or an IRI"
        if token.type == "VARIABLE":
            hint += "; write one rule for each predicate you mean"
            self._wrong(Code.VARIABLE_PREDICATE, f"the variable `{token}` cannot be a predicate", span, hint)
        else:
            self._wrong(Code.INVALID_PREDICATE, f"`{token}` cannot be a predicate", span, hint)
        return "_"

    def _term(self, node: Node) -> Term:
        if isinstance(node, Token):
            known = self._terms.get(node)
            if known is None:
                self._terms[node] = known = self._fresh_term(node)
            return known
        string, suffix = _tokens(node.children)
        lexical = self._string(string)
        if suffix.type == "LANGUAGE":
            return Constant(literal_text(lexical, language=suffix[1:]))
        return Constant(literal_text(lexical, self._iri(suffix)))

    def _fresh_term(self, token: Token) -> Term:
        match token.type:
            case "VARIABLE":
                return Variable(token[1:])
            case "WILDCARD":
                return Wildcard()
            case "NAME":
                return Constant(f'"{token}"')
            case "PNAME" | "IRI":
                return Constant(f"<{self._iri(token)}>")
            case "BLANK" | "BOOLEAN":
                return Constant(str(token))
            case "STRING":
                return Constant(f'"{self._string(token)}"')
        try:
            return Constant(number_text(token.type, str(token)))
        except ValueError as error:
            self._wrong(Code.NUMBER_RANGE, str(error), token_span(self.source, token), _TOO_LARGE)
            return Constant("0")

    def _string(self, token: Token) -> str:
        try:
            return string_content(str(token))
        except ValueError as error:
            hint = "the escapes are those of Turtle; a backslash itself is written `\\\\`"
            self._wrong(Code.INVALID_ESCAPE, str(error), token_span(self.source, token), hint)
            return ""

    def _iri(self, token: Token) -> str:
        """The IRI that an IRI token or a prefixed name stands for."""
        if token.type == "IRI":
            try:
                return iri_content(str(token))
            except ValueError as error:
                self._wrong(Code.INVALID_IRI, str(error), token_span(self.source, token), "encode it with `%`")
                return ""
        prefix, _, local = token.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            self._undeclared_prefix(prefix, token)
            return str(token)
        return namespace + local_name(local)

    def _undeclared_prefix(self, prefix: str, token: Token) -> None:
        if prefix in self._undeclared:
            return
        self._undeclared.add(prefix)
        names = ", ".join(f"`{name}:`" for name in sorted(self.prefixes))
        known = f"declared are {names}" if names else "no prefix is declared"
        namespace = WELL_KNOWN.get(prefix, "http://...")
        hint = f"{known}; add `@prefix {prefix}: <{namespace}> .` to the rules, or write the IRI in full"
        message = f"the prefix `{prefix}:` is not declared"
        self._wrong(Code.UNDECLARED_PREFIX, message, token_span(self.source, token), hint)

    def _wrong(self, code: Code, message: str, span: Span | None, hint: str) -> None:
        self.report(Diagnostic(code, message, span.place if span is not None else None, hint))


def _tokens(nodes: Iterable[Node]) -> list[Token]:
    tokens = []
    for node in nodes:
        assert isinstance(node, Token)
        tokens.append(node)
    return tokens


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    place = diagnostic.place or Place("")
    return place.line or 0, place.column or 0
