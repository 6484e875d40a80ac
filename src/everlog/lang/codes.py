"""The registry of errors and warnings: every code that a message can have.

``docs/errors.md`` explains each of them: what it means, and what to do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """The severity of a diagnostic."""

    ERROR = "error"
    """The work is not done."""
    WARNING = "warning"
    """The work is done, and something is probably not meant."""
    NOTE = "note"
    """Information; shown in the log alone."""


WARNING: Final = Severity.WARNING
NOTE: Final = Severity.NOTE


class Code(StrEnum):
    """The stable name of a kind of error or warning, with the severities that such a diagnostic can have.

    >>> Code.NO_STORE, Code("no-store").severities
    ('no-store', (<Severity.ERROR: 'error'>,))
    >>> Code("damaged-log").severities
    (<Severity.ERROR: 'error'>, <Severity.WARNING: 'warning'>)
    """

    severities: tuple[Severity, ...]

    def __new__(cls, code: str, *severities: Severity) -> Code:
        member = str.__new__(cls, code)
        member._value_ = code
        member.severities = severities or (Severity.ERROR,)
        return member

    def __repr__(self) -> str:
        return repr(self.value)

    # Rules and predicates
    AMBIGUOUS_PREDICATE = "ambiguous-predicate"
    ARITY = "arity", Severity.ERROR, WARNING
    DUPLICATE_PREFIX = "duplicate-prefix"
    DUPLICATE_RULE = "duplicate-rule", WARNING
    EQUALITY_THROUGH_NEGATION = "equality-through-negation"
    INVALID_ESCAPE = "invalid-escape"
    INVALID_PREDICATE = "invalid-predicate"
    LIKE_A_VARIABLE = "like-a-variable", WARNING
    MISSING_DOT = "missing-dot"
    MISSING_PARENTHESES = "missing-parentheses"
    NEGATED_HEAD = "negated-head"
    NEGATION_CYCLE = "negation-cycle"
    NEVER_JOINED = "never-joined", WARNING
    NO_FACTS = "no-facts", WARNING
    NOT_RULES = "not-rules"
    NUMBER_RANGE = "number-range"
    OTHER_LANGUAGE = "other-language"
    POSSIBLE_TYPO = "possible-typo", WARNING
    RDF_TYPE = "rdf-type", WARNING
    SINGLE_USE = "single-use", WARNING
    SYNTAX = "syntax"
    TOO_MANY_MISTAKES = "too-many-mistakes"
    UNCLOSED_IRI = "unclosed-iri"
    UNCLOSED_PARENTHESIS = "unclosed-parenthesis"
    UNCLOSED_STRING = "unclosed-string"
    UNDECLARED_PREFIX = "undeclared-prefix"
    UNKNOWN_DIRECTIVE = "unknown-directive"
    UNKNOWN_PREDICATE = "unknown-predicate", Severity.ERROR, WARNING
    UNKNOWN_RULE = "unknown-rule"
    UNREAD_FACTS = "unread-facts", WARNING
    UNSAFE_VARIABLE = "unsafe-variable"
    VARIABLE_PREDICATE = "variable-predicate"
    WILDCARD_IN_HEAD = "wildcard-in-head"

    # Facts, files and values
    BAD_BASE = "bad-base"
    BAD_NAME = "bad-name"
    BAD_ROW = "bad-row"
    BAD_ROWS = "bad-rows"
    BAD_VALUE = "bad-value"
    COLUMN_NAMES = "column-names"
    CONFLICTING_OPERATIONS = "conflicting-operations"
    ENTITY_EXPANSION = "entity-expansion"
    FILE_OF_A_TABLE = "file-of-a-table", WARNING
    GRAPHS = "graphs"
    HASH_COLLISION = "hash-collision"
    INVALID_IRI = "invalid-iri"
    INVALID_LABEL = "invalid-label"
    INVALID_LANGUAGE = "invalid-language"
    INVALID_LITERAL = "invalid-literal"
    LARGE_GZ = "large-gz", WARNING
    MERGED_GRAPHS = "merged-graphs", WARNING
    NAMED_RDF = "named-rdf"
    NO_SUCH_COLUMN = "no-such-column"
    NO_SUCH_FILE = "no-such-file"
    NOT_A_ROW = "not-a-row"
    NOT_UTF_8 = "not-utf-8"
    NOTHING_TO_READ = "nothing-to-read"
    NULL_VALUE = "null-value"
    PARTITIONED_DIRECTORY = "partitioned-directory"
    PICKED_RDF = "picked-rdf"
    PREFIX_EXPANSION = "prefix-expansion"
    RAGGED_COLUMN = "ragged-column"
    RAGGED_ROW = "ragged-row"
    ROW_TOO_LONG = "row-too-long"
    SKIPPED_ROWS = "skipped-rows", WARNING
    TWO_ARITIES = "two-arities"
    UNKNOWN_BLANK_NODES = "unknown-blank-nodes"
    UNKNOWN_KIND = "unknown-kind"
    UNKNOWN_PREFIX = "unknown-prefix"
    UNKNOWN_SCHEME = "unknown-scheme"
    UNREACHABLE_STORE = "unreachable-store"
    UNREADABLE_FILE = "unreadable-file"
    UNREADABLE_TABLE = "unreadable-table"
    UNSUPPORTED_TYPE = "unsupported-type"
    UNSUPPORTED_VALUE = "unsupported-value"
    WRONG_ARITY = "wrong-arity"
    WRONG_COLUMNS = "wrong-columns"
    WRONG_DATA = "wrong-data"

    # Ontologies and equality
    NOT_AN_ONTOLOGY = "not-an-ontology"
    ONTOLOGY = "ontology", NOTE
    ONTOLOGY_IS_FACTS = "ontology-is-facts"
    OTHER_EQUALITY = "other-equality"
    REPRESENTATIVES_OF_TRIPLES = "representatives-of-triples"
    REPRESENTATIVES_ON_SPARK = "representatives-on-spark"
    UNTRANSLATED = "untranslated", WARNING

    # SPARQL
    AGGREGATE_IN_AGGREGATE = "aggregate-in-aggregate"
    BLANK_NODE_IN_DELETE = "blank-node-in-delete"
    BLANK_NODE_SCOPE = "blank-node-scope"
    INTERNAL_RELATION = "internal-relation", WARNING
    LITERAL_SUBJECT = "literal-subject"
    MISPLACED_AGGREGATE = "misplaced-aggregate"
    NO_NAMED_GRAPHS = "no-named-graphs", WARNING
    ONE_GRAPH = "one-graph"
    RESULT_IN_HAVING = "result-in-having"
    SELECT_ALL_OF_GROUPS = "select-all-of-groups"
    SPARQL_SYNTAX = "sparql-syntax"
    TOO_MANY_SOLUTIONS = "too-many-solutions"
    UNGROUPED_VARIABLE = "ungrouped-variable"
    UNKNOWN_GRAPH = "unknown-graph", Severity.ERROR, WARNING
    UNSUPPORTED_REGEX = "unsupported-regex"
    UNSUPPORTED_SPARQL = "unsupported-sparql"
    VALUES_WIDTH = "values-width"
    VARIABLE_IN_USE = "variable-in-use"
    WRONG_FORMAT = "wrong-format"

    # Limits and the machine
    MAX_FACTS = "max-facts"
    MEMORY = "memory"
    NO_KERNEL_CACHE = "no-kernel-cache"
    OUT_OF_MEMORY = "out-of-memory"
    TIMEOUT = "timeout"
    TOO_MANY_DERIVATIONS = "too-many-derivations"
    TOO_MANY_TERMS = "too-many-terms"

    # Stores
    AFTER_COMMIT = "after-commit", WARNING
    ANOTHER_WRITER = "another-writer"
    BAD_FILE = "bad-file"
    BAD_OPTION = "bad-option"
    COMMIT_FAILED = "commit-failed"
    DAMAGED_FILE = "damaged-file"
    DAMAGED_LOG = "damaged-log", Severity.ERROR, WARNING
    DISK_FULL = "disk-full"
    INPUT_OUTPUT = "input-output"
    NO_STORE = "no-store"
    NO_SUCH_VERSION = "no-such-version"
    NO_TERMS = "no-terms"
    NOT_A_STORE = "not-a-store"
    NOT_DURABLE = "not-durable", WARNING
    NOT_PERMITTED = "not-permitted"
    NOT_POSIX = "not-posix"
    NOT_VERIFIED = "not-verified"
    OTHER_TOOL = "other-tool"
    STORE_EXISTS = "store-exists"
    STORE_FORMAT = "store-format"
    TRANSACTION_OVER = "transaction-over"
    UNKNOWN_IDS = "unknown-ids"
    UNKNOWN_PREDICATE_ID = "unknown-predicate-id"
    UNKNOWN_TERM = "unknown-term"
    VERSION_GONE = "version-gone"
    WRITER_AT_WORK = "writer-at-work"

    # Spark and streams
    MISSED_BATCHES = "missed-batches"
    NO_JAVA = "no-java"
    NO_NAME = "no-name"
    NO_PYSPARK = "no-pyspark"
    NOT_A_STREAM = "not-a-stream"
    OLD_JAVA = "old-java"
    OTHER_CHECKPOINT = "other-checkpoint"
    SPARK_FAILED = "spark-failed"
    SPARK_START = "spark-start"
    TOO_MUCH_FOR_SPARK = "too-much-for-spark"

    # Commands and settings
    BAD_SETTING = "bad-setting"
    BAD_SETTINGS = "bad-settings"
    BAD_SIZE = "bad-size"
    INTERRUPTED = "interrupted"
    MISSING_ARGUMENT = "missing-argument"
    NO_PROFILE_PAGE = "no-profile-page", WARNING
    NOT_A_NUMBER = "not-a-number"
    NOT_WRITABLE = "not-writable"
    NOTHING_TO_UNDO = "nothing-to-undo"
    OUTPUT_EXISTS = "output-exists"
    UNKNOWN_COMMAND = "unknown-command"
    UNKNOWN_SETTING = "unknown-setting"
    WARNINGS = "warnings"
