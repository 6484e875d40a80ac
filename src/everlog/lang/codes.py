"""The registry of errors and warnings: every code that a message can have.

``docs/errors.md`` is made from it. A new code is one more member here, then ``EVERLOG_GOLDEN=write pytest
tests/docs/test_errors_page.py`` writes the page.
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


class Topic(StrEnum):
    """The subject of a code, which is a section of the page."""

    RULES = "Rules and predicates"
    FACTS = "Facts, files and values"
    ONTOLOGIES = "Ontologies and equality"
    SPARQL = "SPARQL"
    LIMITS = "Limits and the machine"
    STORES = "Stores"
    SPARK = "Spark and streams"
    COMMANDS = "Commands and settings"


ERROR: Final = Severity.ERROR
WARNING: Final = Severity.WARNING
NOTE: Final = Severity.NOTE


class Code(StrEnum):
    """The stable name of a kind of error or warning, with what it means and what to do about it.

    >>> Code.NO_STORE, Code.NO_STORE.meaning
    ('no-store', 'A knowledge base that comes from no store is saved without a path.')
    >>> Code("damaged-log").severities
    (<Severity.ERROR: 'error'>, <Severity.WARNING: 'warning'>)
    """

    topic: Topic
    meaning: str
    remedy: str
    severities: tuple[Severity, ...]

    def __new__(
        cls, code: str, topic: Topic, meaning: str, remedy: str, severities: tuple[Severity, ...] = (ERROR,)
    ) -> Code:
        member = str.__new__(cls, code)
        member._value_ = code
        member.topic, member.meaning, member.remedy, member.severities = topic, meaning, remedy, severities
        return member

    def __repr__(self) -> str:
        return repr(self.value)

    AMBIGUOUS_PREDICATE = (
        "ambiguous-predicate",
        Topic.RULES,
        "A name without arity is given, and predicates with several numbers of arguments have it.",
        'Give the arity as well, such as `("name", 2)`.',
    )
    ARITY = (
        "arity",
        Topic.RULES,
        "A predicate is used with a number of arguments that it does not have elsewhere.",
        "Write as many arguments as it has, or give one of the two predicates another name.",
        (ERROR, WARNING),
    )
    DUPLICATE_PREFIX = (
        "duplicate-prefix",
        Topic.RULES,
        "A prefix is declared twice, for different IRIs.",
        "Give one of the two another name.",
    )
    DUPLICATE_RULE = (
        "duplicate-rule",
        Topic.RULES,
        "A rule says the same as an earlier one.",
        "Remove one of the two.",
        (WARNING,),
    )
    EQUALITY_THROUGH_NEGATION = (
        "equality-through-negation",
        Topic.RULES,
        "Equalities follow from the negation of a predicate which equalities change.",
        "Write rules that lead to `owl:sameAs` without negation, or use `--equality rules`.",
    )
    INVALID_ESCAPE = (
        "invalid-escape",
        Topic.RULES,
        "A string has an escape sequence that does not exist.",
        "Use the escapes of Turtle; a backslash is written `\\`.",
    )
    INVALID_PREDICATE = (
        "invalid-predicate",
        Topic.RULES,
        "Something other than a name, a prefixed name or an IRI stands where a predicate is expected.",
        "Write one of these.",
    )
    LIKE_A_VARIABLE = (
        "like-a-variable",
        Topic.RULES,
        "A constant looks like a variable: a capital letter, in several atoms.",
        "Write `?X` for a variable; otherwise ignore this.",
        (WARNING,),
    )
    MISSING_DOT = ("missing-dot", Topic.RULES, "A statement has no `.` at its end.", "Add it.")
    MISSING_PARENTHESES = (
        "missing-parentheses",
        Topic.RULES,
        "A name stands alone where an atom is expected.",
        "Write `name()` for an atom without arguments.",
    )
    NEGATED_HEAD = (
        "negated-head",
        Topic.RULES,
        "The head of a rule is negated.",
        "Derive another predicate, or negate in the body.",
    )
    NEGATION_CYCLE = (
        "negation-cycle",
        Topic.RULES,
        "A predicate depends on its own negation, so that the program has no strata.",
        "Break the cycle at one of the rules shown.",
    )
    NEVER_JOINED = (
        "never-joined",
        Topic.RULES,
        "A variable stands for values of two kinds that are never equal, such as integers and doubles.",
        "Give both columns one type before they are loaded.",
        (WARNING,),
    )
    NO_FACTS = (
        "no-facts",
        Topic.RULES,
        "No rule and no fact gives a predicate that a rule reads.",
        "Correct the name, or load facts for it; an empty file says that it is meant to be empty.",
        (WARNING,),
    )
    NOT_A_FACT = (
        "not-a-fact",
        Topic.RULES,
        "A text that is read as one fact is something else.",
        "Write one atom with constants only.",
    )
    NOT_RULES = (
        "not-rules",
        Topic.RULES,
        "A file that is given as rules has facts.",
        "Make the knowledge base from the rules, and insert what the file has.",
    )
    NUMBER_RANGE = (
        "number-range",
        Topic.RULES,
        "A number is too large for its type.",
        "Write it as an integer or a decimal.",
    )
    OTHER_LANGUAGE = (
        "other-language",
        Topic.RULES,
        "The file has rules in the language of another tool.",
        "Write the rules in the [language of Everlog](rules.md), as `.rls`.",
    )
    POSSIBLE_TYPO = (
        "possible-typo",
        Topic.RULES,
        "A predicate has no rule and no fact in the program, and another one has nearly the same name.",
        "Correct the name; ignore this if the predicate comes with the data.",
        (WARNING,),
    )
    RDF_TYPE = (
        "rdf-type",
        Topic.RULES,
        "A rule reads `rdf:type` as a predicate with two arguments. RDF data have `C(x)` for the type `C` of `x`.",
        "Write `[?x, a, C]` or `C(?x)`.",
        (WARNING,),
    )
    SINGLE_USE = (
        "single-use",
        Topic.RULES,
        "A variable is used once in its rule.",
        "Write `_` if its value does not matter; otherwise correct the name.",
        (WARNING,),
    )
    SYNTAX = (
        "syntax",
        Topic.RULES,
        "The text is not in the language of rules.",
        "See the message for what is expected there.",
    )
    TOO_MANY_MISTAKES = (
        "too-many-mistakes",
        Topic.RULES,
        "Reading ends, since there are too many mistakes.",
        "Correct those that are shown, and run again.",
    )
    UNCLOSED_IRI = (
        "unclosed-iri",
        Topic.RULES,
        "An IRI has no `>` at its end.",
        "Add it; an IRI has no blanks, quotes, braces or backslashes.",
    )
    UNCLOSED_PARENTHESIS = ("unclosed-parenthesis", Topic.RULES, "A parenthesis or bracket is not closed.", "Close it.")
    UNCLOSED_STRING = (
        "unclosed-string",
        Topic.RULES,
        "A string has no quote at its end.",
        "Add it; a string over several lines stands between three quotes.",
    )
    UNDECLARED_PREFIX = (
        "undeclared-prefix",
        Topic.RULES,
        "A prefix is used that the rules do not declare.",
        "Add `@prefix`, or write the IRI in full.",
    )
    UNKNOWN_DIRECTIVE = (
        "unknown-directive",
        Topic.RULES,
        "A directive is not `@prefix`.",
        "Remove it; write IRIs in full or with prefixes.",
    )
    UNKNOWN_PREDICATE = (
        "unknown-predicate",
        Topic.RULES,
        "A query or command names a predicate that the knowledge base does not have.",
        "Correct the name; the message shows those that are similar.",
        (ERROR, WARNING),
    )
    UNKNOWN_RULE = (
        "unknown-rule",
        Topic.RULES,
        "A rule that is to be removed is not in the program.",
        "Write it as `everlog rules STORE` (`kb.rules` in Python) shows it.",
    )
    UNREAD_FACTS = (
        "unread-facts",
        Topic.RULES,
        "There are facts of a predicate that no rule has.",
        "Correct the name; ignore this if the facts are there for queries alone.",
        (WARNING,),
    )
    UNSAFE_VARIABLE = (
        "unsafe-variable",
        Topic.RULES,
        "A variable of the head, or of a negated atom, is in no positive atom of the body.",
        "Add a positive atom with it.",
    )
    VARIABLE_PREDICATE = (
        "variable-predicate",
        Topic.RULES,
        "A variable stands where a predicate is expected.",
        "Write one rule for each predicate.",
    )
    WILDCARD_IN_HEAD = (
        "wildcard-in-head",
        Topic.RULES,
        "`_` stands in a head or in a fact.",
        "Write a constant, or a variable that the body binds.",
    )

    BAD_BASE = (
        "bad-base",
        Topic.FACTS,
        "The base for relative IRIs is not an absolute IRI.",
        "Give an absolute IRI, such as `http://example.org/`.",
    )
    BAD_NAME = (
        "bad-name",
        Topic.FACTS,
        "A name cannot be the name of a predicate, or of a stream.",
        "Give a name of letters, digits, `_` and `-`, or an IRI.",
    )
    BAD_ROW = (
        "bad-row",
        Topic.FACTS,
        "A row of a fact file cannot be read.",
        "Correct the row, or leave out bad rows with `--on-error skip`.",
    )
    BAD_ROWS = (
        "bad-rows",
        Topic.FACTS,
        "Nothing was loaded, or a batch not applied, because of bad rows.",
        "Correct the data, or leave out bad rows with `--on-error skip`.",
    )
    BAD_VALUE = (
        "bad-value",
        Topic.FACTS,
        "A value of a row cannot become a term.",
        "Convert the value, or leave out the row.",
    )
    COLUMN_NAMES = (
        "column-names",
        Topic.FACTS,
        "Two files of one predicate have columns with different names.",
        "Say which column is which argument, as in `NAME=PATH[from, to]`.",
    )
    CONFLICTING_OPERATIONS = (
        "conflicting-operations",
        Topic.FACTS,
        "One batch of a stream inserts and deletes the same fact, without an order between the two.",
        "Add a column `seq`, or number the operations: the last one on a fact then counts.",
    )
    ENTITY_EXPANSION = (
        "entity-expansion",
        Topic.FACTS,
        "The entities of an XML file stand for too much text.",
        "Write out what they stand for.",
    )
    FILE_OF_A_TABLE = (
        "file-of-a-table",
        Topic.FACTS,
        "Data files of a Delta table are read as plain files, and may have rows that were deleted from the table.",
        "Give the directory of the table instead of its files.",
        (WARNING,),
    )
    GRAPHS = (
        "graphs",
        Topic.FACTS,
        "The rules do not have an argument for the names of graphs.",
        "Leave out `--graphs`, or write rules with the graph as last argument.",
    )
    HASH_COLLISION = (
        "hash-collision",
        Topic.FACTS,
        "Two terms have the same id in a store.",
        "Materialise with another `--salt`.",
    )
    INVALID_IRI = ("invalid-iri", Topic.FACTS, "An IRI has characters that no IRI can have.", "Encode them with `%`.")
    INVALID_LABEL = (
        "invalid-label",
        Topic.FACTS,
        "A text cannot be the label of a blank node.",
        "Use letters, digits and `_`; `-` and `.` may stand inside.",
    )
    INVALID_LANGUAGE = (
        "invalid-language",
        Topic.FACTS,
        "A text cannot be a language tag.",
        "Use a tag such as `en` or `de-AT`.",
    )
    INVALID_LITERAL = (
        "invalid-literal",
        Topic.FACTS,
        "A literal has a language and a datatype.",
        "Leave out one of the two.",
    )
    LARGE_GZ = (
        "large-gz",
        Topic.FACTS,
        "A large compressed file is read by one task.",
        "Unpack it, or split it into several `.gz` files.",
        (WARNING,),
    )
    MERGED_GRAPHS = (
        "merged-graphs",
        Topic.FACTS,
        "The names of graphs are left out, and all triples are in one graph.",
        "Ignore this, or keep the names with `--graphs`.",
        (WARNING,),
    )
    NAMED_RDF = (
        "named-rdf",
        Topic.FACTS,
        "An RDF file is given a predicate, and has predicates of its own.",
        "Leave out `NAME=`.",
    )
    NO_SUCH_COLUMN = (
        "no-such-column",
        Topic.FACTS,
        "A column that is picked does not exist, has no name, or shares its name with another.",
        "Pick from the columns that the message shows.",
    )
    NO_SUCH_FILE = ("no-such-file", Topic.FACTS, "A file does not exist.", "Check the path.")
    NOT_A_ROW = (
        "not-a-row",
        Topic.FACTS,
        "Something in a list of rows is not a tuple.",
        "Give tuples, one value for each argument.",
    )
    NOT_UTF_8 = ("not-utf-8", Topic.FACTS, "A text is not UTF-8.", "Save it as UTF-8.")
    NOTHING_TO_READ = (
        "nothing-to-read",
        Topic.FACTS,
        "A directory or a pattern has no file of a known kind.",
        "Check the path and the extensions.",
    )
    NULL_VALUE = (
        "null-value",
        Topic.FACTS,
        "A row has no value in one of its columns.",
        "Fill it in, or leave out the row.",
    )
    PARTITIONED_DIRECTORY = (
        "partitioned-directory",
        Topic.FACTS,
        "A directory is partitioned, so that values are in the names of its parts.",
        "Write it as a Delta table, or without partitions.",
    )
    PICKED_RDF = (
        "picked-rdf",
        Topic.FACTS,
        "Columns are picked from an RDF file, which has none.",
        "Leave out `[...]`.",
    )
    PREFIX_EXPANSION = (
        "prefix-expansion",
        Topic.FACTS,
        "The prefixes of an RDF file stand for too much text.",
        "Declare shorter prefixes, or write N-Triples.",
    )
    RAGGED_COLUMN = (
        "ragged-column",
        Topic.FACTS,
        "The columns of a table have different lengths.",
        "Give as many values in each column.",
    )
    RAGGED_ROW = (
        "ragged-row",
        Topic.FACTS,
        "The rows of a list have different lengths.",
        "Give as many values in each row.",
    )
    ROW_TOO_LONG = (
        "row-too-long",
        Topic.FACTS,
        "A row is longer than a reader holds at once.",
        "Check whether a quote is never closed.",
    )
    SKIPPED_ROWS = (
        "skipped-rows",
        Topic.FACTS,
        "Bad rows were left out, as `--on-error skip` says.",
        "Correct them if they are needed.",
        (WARNING,),
    )
    TWO_ARITIES = (
        "two-arities",
        Topic.FACTS,
        "Two files of one predicate have different numbers of columns.",
        "Pick columns by name, or give one of the files another predicate.",
    )
    UNKNOWN_BLANK_NODES = (
        "unknown-blank-nodes",
        Topic.FACTS,
        "Facts to delete have blank nodes that the store does not know.",
        "Give `--source` with the name under which the file was loaded, or write the labels that the store shows.",
    )
    UNKNOWN_KIND = (
        "unknown-kind",
        Topic.FACTS,
        "The extension of a file does not say what is in it.",
        "Rename the file; the message shows the known extensions.",
    )
    UNKNOWN_PREFIX = (
        "unknown-prefix",
        Topic.FACTS,
        "The prefix of a predicate or of a query is not declared.",
        "Declare it, or write the IRI in full.",
    )
    UNKNOWN_SCHEME = (
        "unknown-scheme",
        Topic.FACTS,
        "An address begins with a scheme that Everlog does not know.",
        "Use a path, or one of the schemes that the message shows.",
    )
    UNREACHABLE_STORE = (
        "unreachable-store",
        Topic.FACTS,
        "An object store cannot be read.",
        "Check the address, the network and the credentials.",
    )
    UNREADABLE_FILE = (
        "unreadable-file",
        Topic.FACTS,
        "A file cannot be read: it is damaged, incomplete, or not permitted.",
        "Copy or write it again; check who may read it.",
    )
    UNREADABLE_TABLE = (
        "unreadable-table",
        Topic.FACTS,
        "A Delta table cannot be read, or uses a feature that Everlog does not have.",
        "Write its rows as Parquet files with the tool that wrote the table.",
    )
    UNSUPPORTED_TYPE = (
        "unsupported-type",
        Topic.FACTS,
        "A column has a type whose values cannot be terms.",
        "Convert the column, or leave it out.",
    )
    UNSUPPORTED_VALUE = (
        "unsupported-value",
        Topic.FACTS,
        "A value of a Python object has a type that cannot be a term.",
        "Give a str, int, float, bool, Decimal, date, datetime, time, IRI, BlankNode or Literal.",
    )
    WRONG_ARITY = (
        "wrong-arity",
        Topic.FACTS,
        "The number of columns is not the number of arguments of the predicate.",
        "Pick columns by name, or give the file another predicate.",
    )
    WRONG_COLUMNS = (
        "wrong-columns",
        Topic.FACTS,
        "The columns of a stream are not those of changes of facts.",
        "Name the columns `op`, `predicate`, and `arguments` or `c0`, `c1` and so on; see [streams](streaming.md).",
    )
    WRONG_DATA = (
        "wrong-data",
        Topic.FACTS,
        "Rows cannot be taken from a value of this type.",
        "Give a list of tuples, a data frame or an Arrow table.",
    )

    NOT_AN_ONTOLOGY = (
        "not-an-ontology",
        Topic.ONTOLOGIES,
        "A file that is given as an ontology is not RDF.",
        "Give a file with an extension of RDF.",
    )
    ONTOLOGY = (
        "ontology",
        Topic.ONTOLOGIES,
        "What was read from an ontology, and what was left out.",
        "Nothing; it is for information.",
        (NOTE,),
    )
    ONTOLOGY_IS_FACTS = (
        "ontology-is-facts",
        Topic.ONTOLOGIES,
        "The rules are about triples, and for them an ontology is facts.",
        "Insert it like other facts: `everlog update STORE --insert FILE`, `kb.load(FILE)` in Python.",
    )
    OTHER_EQUALITY = (
        "other-equality",
        Topic.ONTOLOGIES,
        "A store was made with another way of treating equality.",
        "Open it without the option, or materialise again.",
    )
    REPRESENTATIVES_OF_TRIPLES = (
        "representatives-of-triples",
        Topic.ONTOLOGIES,
        "The profile has no rules for `owl:sameAs` in triples.",
        "Use another profile, such as `rl`, or leave out `--equality`.",
    )
    REPRESENTATIVES_ON_SPARK = (
        "representatives-on-spark",
        Topic.ONTOLOGIES,
        "Spark cannot reason over representatives of equal terms.",
        "Use `--engine local`, or `--equality rules`.",
    )
    UNTRANSLATED = (
        "untranslated",
        Topic.ONTOLOGIES,
        "Axioms of an ontology cannot be expressed by rules, or not wholly.",
        "`everlog owl` lists them; what follows from them is not derived.",
        (WARNING,),
    )

    AGGREGATE_IN_AGGREGATE = (
        "aggregate-in-aggregate",
        Topic.SPARQL,
        "An aggregate stands inside another one.",
        "Compute the inner one in a subquery.",
    )
    BLANK_NODE_IN_DELETE = (
        "blank-node-in-delete",
        Topic.SPARQL,
        "An update deletes a blank node by its label.",
        "Write a variable, and bind it in WHERE.",
    )
    BLANK_NODE_SCOPE = (
        "blank-node-scope",
        Topic.SPARQL,
        "A label of a blank node stands in two places between which it has no meaning.",
        "Use a variable, or two labels.",
    )
    INTERNAL_RELATION = (
        "internal-relation",
        Topic.SPARQL,
        "A query names a relation of Everlog's own rules, whose facts are no triples.",
        "Ask with `everlog query`.",
        (WARNING,),
    )
    LITERAL_SUBJECT = (
        "literal-subject",
        Topic.SPARQL,
        "An update inserts a triple whose subject is a literal.",
        "Put an IRI or a blank node in its place.",
    )
    MISPLACED_AGGREGATE = (
        "misplaced-aggregate",
        Topic.SPARQL,
        "An aggregate stands where there are no groups.",
        "Write it in SELECT or ORDER BY, or as a condition in HAVING after the pattern.",
    )
    NO_NAMED_GRAPHS = (
        "no-named-graphs",
        Topic.SPARQL,
        "GRAPH matches nothing, since all facts are in the default graph.",
        "Leave GRAPH out, or load with `--graphs`.",
        (WARNING,),
    )
    ONE_GRAPH = (
        "one-graph",
        Topic.SPARQL,
        "A graph is named, and a knowledge base has one graph.",
        "Leave out the graph, or make a `Dataset` of several knowledge bases.",
    )
    RESULT_IN_HAVING = (
        "result-in-having",
        Topic.SPARQL,
        "HAVING uses a variable that gets its value after the groups are chosen.",
        "Write in HAVING the expression that stands before `AS`.",
    )
    SELECT_ALL_OF_GROUPS = (
        "select-all-of-groups",
        Topic.SPARQL,
        "`SELECT *` is used with groups.",
        "List the variables that the query is grouped by, and aggregates.",
    )
    SPARQL_SYNTAX = (
        "sparql-syntax",
        Topic.SPARQL,
        "A query or an update is not SPARQL.",
        "See the message for what is expected there.",
    )
    TOO_MANY_SOLUTIONS = (
        "too-many-solutions",
        Topic.SPARQL,
        "An answer has more solutions than can be held.",
        "Restrict the query.",
    )
    UNGROUPED_VARIABLE = (
        "ungrouped-variable",
        Topic.SPARQL,
        "SELECT has a variable that is neither grouped by nor in an aggregate.",
        "Group by it, or put it in an aggregate such as SAMPLE.",
    )
    UNKNOWN_GRAPH = (
        "unknown-graph",
        Topic.SPARQL,
        "A query names a graph that does not exist.",
        "Correct the name, or leave GRAPH out.",
        (ERROR, WARNING),
    )
    UNSUPPORTED_REGEX = (
        "unsupported-regex",
        Topic.SPARQL,
        "A regular expression has a part that is not supported.",
        "Write it another way; the message names the part.",
    )
    UNSUPPORTED_SPARQL = (
        "unsupported-sparql",
        Topic.SPARQL,
        "The query uses a part of SPARQL that is not supported.",
        "Write it without; [SPARQL](sparql.md) says what is supported.",
    )
    VALUES_WIDTH = (
        "values-width",
        Topic.SPARQL,
        "A row of VALUES has more or fewer values than there are variables.",
        "Write as many values; UNDEF stands for none.",
    )
    VARIABLE_IN_USE = (
        "variable-in-use",
        Topic.SPARQL,
        "`AS ?x` or BIND gives a value to a variable which has one.",
        "Use another name.",
    )
    WRONG_FORMAT = (
        "wrong-format",
        Topic.SPARQL,
        "The format is for triples, and the answer of SELECT is a table.",
        "Use one of the formats that the message shows.",
    )

    CANCELLED = ("cancelled", Topic.LIMITS, "The work was cancelled; nothing was changed.", "Nothing, or run again.")
    MAX_FACTS = (
        "max-facts",
        Topic.LIMITS,
        "There are more facts than `--max-facts` allows; nothing was changed.",
        "Raise the limit, or see with `--profile` which rules derive the most.",
    )
    MEMORY = (
        "memory",
        Topic.LIMITS,
        "The work needs more memory than `--memory` allows or the machine has; nothing was changed.",
        "Raise the limit (`max_memory` in Python), ask for fewer rows, or use `--engine spark`.",
    )
    NO_KERNEL_CACHE = (
        "no-kernel-cache",
        Topic.LIMITS,
        "There is no directory in which compiled kernels can be kept.",
        "Set `NUMBA_CACHE_DIR` to one that can be written to.",
    )
    OUT_OF_MEMORY = (
        "out-of-memory",
        Topic.LIMITS,
        "The process got no more memory.",
        "Use a larger machine, or stop earlier with `--max-facts`.",
    )
    TIMEOUT = (
        "timeout",
        Topic.LIMITS,
        "The seconds that `--timeout` allows ran out; nothing was changed.",
        "Raise the limit, or see with `--profile` what takes the most time.",
    )
    TOO_MANY_DERIVATIONS = (
        "too-many-derivations",
        Topic.LIMITS,
        "There are too many ways to derive a fact to list them.",
        "Ask for fewer facts at once; with modules, closures are explained by paths.",
    )
    TOO_MANY_TERMS = ("too-many-terms", Topic.LIMITS, "There are more different terms than ids.", "Split the data.")

    AFTER_COMMIT = (
        "after-commit",
        Topic.STORES,
        "A version is committed, and what follows a commit (a snapshot, compacting) failed.",
        "Do not make the change again; `everlog verify` checks the store.",
        (WARNING,),
    )
    ANOTHER_WRITER = (
        "another-writer",
        Topic.STORES,
        "Another process writes to the store; nothing was changed.",
        "Run again, or wait with `--wait`.",
    )
    BAD_FILE = (
        "bad-file",
        Topic.STORES,
        "A data file that is to be committed is not as the commit needs it; nothing was changed.",
        "Report it: this is a mistake in Everlog.",
    )
    BAD_OPTION = ("bad-option", Topic.STORES, "An option has a value that makes no sense.", "Give another value.")
    COMMIT_FAILED = (
        "commit-failed",
        Topic.STORES,
        "The log of the store could not be written; nothing was changed.",
        "Check the disk and run again.",
    )
    DAMAGED_FILE = (
        "damaged-file",
        Topic.STORES,
        "A data file of a store is not as it was written.",
        "Restore it from a backup, or read an older version.",
    )
    DAMAGED_LOG = (
        "damaged-log",
        Topic.STORES,
        "A log entry or a checkpoint of a store is damaged.",
        "Run `everlog repair`, which moves aside what is damaged, or restore it from a backup.",
        (ERROR, WARNING),
    )
    DISK_FULL = (
        "disk-full",
        Topic.STORES,
        "The disk has no space left; the store is as before.",
        "Free some space, for instance with `everlog vacuum`, and run again.",
    )
    INPUT_OUTPUT = (
        "input-output",
        Topic.STORES,
        "The operating system reports an error of a file or a disk.",
        "Check the path and the disk.",
    )
    NO_STORE = (
        "no-store",
        Topic.STORES,
        "A knowledge base that comes from no store is saved without a path.",
        "Say where to save it.",
    )
    NO_SUCH_VERSION = (
        "no-such-version",
        Topic.STORES,
        "The store does not have the version.",
        "Give one of those that the message shows.",
    )
    NO_TERMS = (
        "no-terms",
        Topic.STORES,
        "The table of terms of a store is gone.",
        "Restore it from a backup, or materialise again.",
    )
    NOT_A_STORE = (
        "not-a-store",
        Topic.STORES,
        "There is no store at the path.",
        "Check the path, or make one with `everlog materialise`.",
    )
    NOT_DURABLE = (
        "not-durable",
        Topic.STORES,
        "A version is committed, and the disk did not confirm that a power cut will not undo it.",
        "Check the disk.",
        (WARNING,),
    )
    NOT_PERMITTED = (
        "not-permitted",
        Topic.STORES,
        "The operating system does not permit to read or write a file.",
        "Check who may read and write it.",
    )
    NOT_POSIX = (
        "not-posix",
        Topic.STORES,
        "A store cannot be in an object store.",
        "Use a directory of a file system.",
    )
    NOT_VERIFIED = (
        "not-verified",
        Topic.STORES,
        "`everlog verify` found something wrong in a store.",
        "Do what the message says, or restore the store from a backup.",
    )
    OTHER_TOOL = (
        "other-tool",
        Topic.STORES,
        "Data files of a store were written by another tool, and may not be in order.",
        "Restore the version before with that tool, or materialise again with `--overwrite`.",
    )
    STORE_EXISTS = (
        "store-exists",
        Topic.STORES,
        "There is a store at the path already.",
        "Use another path, or pass `--overwrite` to make a new version.",
    )
    STORE_FORMAT = ("store-format", Topic.STORES, "A newer Everlog wrote the store.", "Use a newer Everlog.")
    TRANSACTION_OVER = (
        "transaction-over",
        Topic.STORES,
        "A transaction is used after it was committed or given up.",
        "Begin another one.",
    )
    UNKNOWN_IDS = (
        "unknown-ids",
        Topic.STORES,
        "New facts have ids that are not among the terms; nothing was changed.",
        "Report it: this is a mistake in Everlog.",
    )
    UNKNOWN_PREDICATE_ID = (
        "unknown-predicate-id",
        Topic.STORES,
        "A fact of a store has a predicate that is not among its terms.",
        "Check the store with `everlog verify`, and restore it from a backup.",
    )
    UNKNOWN_TERM = (
        "unknown-term",
        Topic.STORES,
        "A fact of a store has a term that is not among its terms.",
        "Check the store with `everlog verify`, and restore it from a backup.",
    )
    VERSION_GONE = (
        "version-gone",
        Topic.STORES,
        "The files of an old version were removed.",
        "Read a newer version, or restore the files from a backup.",
    )
    WRITER_AT_WORK = (
        "writer-at-work",
        Topic.STORES,
        "`everlog repair` cannot run while a process writes to the store.",
        "Wait until it is done.",
    )

    MISSED_BATCHES = (
        "missed-batches",
        Topic.SPARK,
        "The store lacks batches of a stream before the next one.",
        "Start with a new checkpoint; `restart=True` goes on without the batches between.",
    )
    NO_JAVA = ("no-java", Topic.SPARK, "Spark needs Java, and there is none.", "Install Java, or use `--engine local`.")
    NO_NAME = ("no-name", Topic.SPARK, "A stream has no name, by which the store knows its batches.", "Give it a name.")
    NO_PYSPARK = (
        "no-pyspark",
        Topic.SPARK,
        "Spark is needed, and the package pyspark is not installed.",
        "Install it with `pip install pyspark`; `everlog.KnowledgeBase` in Python needs no Spark.",
    )
    NOT_A_STREAM = (
        "not-a-stream",
        Topic.SPARK,
        "A DataFrame that is given as a stream is not one.",
        "Give a DataFrame of `spark.readStream`.",
    )
    OLD_JAVA = (
        "old-java",
        Topic.SPARK,
        "The installed Java is too old for Spark.",
        "Install a newer one, and set `JAVA_HOME`.",
    )
    OTHER_CHECKPOINT = (
        "other-checkpoint",
        Topic.SPARK,
        "The store has batches of the stream from another checkpoint.",
        "Go on with that checkpoint, take another name, or pass `restart=True` to apply all batches again.",
    )
    SPARK_FAILED = (
        "spark-failed",
        Topic.SPARK,
        "Spark ended with an error.",
        "Run again with `--spark-log FILE`, and read the file.",
    )
    SPARK_START = (
        "spark-start",
        Topic.SPARK,
        "Spark did not start.",
        "Check `--master`, the memory (`EVERLOG_SPARK_MEMORY`), and what the message shows of the log.",
    )
    TOO_MUCH_FOR_SPARK = (
        "too-much-for-spark",
        Topic.SPARK,
        "One task of Spark cannot do it, and it cannot be distributed.",
        "Use `--engine local`, or allow tasks more facts with `--spark-local-finish`.",
    )

    BAD_SETTING = (
        "bad-setting",
        Topic.COMMANDS,
        "A setting has a value that it cannot have.",
        "Give one of the values that the message shows.",
    )
    BAD_SETTINGS = (
        "bad-settings",
        Topic.COMMANDS,
        "The file of settings is not TOML.",
        "Write `name = value`, with strings in quotes.",
    )
    BAD_SIZE = (
        "bad-size",
        Topic.COMMANDS,
        "A text is not a size of memory.",
        "Write a number and `k`, `m`, `g` or `t`, such as `8g`.",
    )
    INTERRUPTED = (
        "interrupted",
        Topic.COMMANDS,
        "The command was interrupted; a store is as its last commit left it.",
        "Run it again.",
    )
    MISSING_ARGUMENT = (
        "missing-argument",
        Topic.COMMANDS,
        "A command of the shell needs an argument.",
        "Add it; `:help` shows how.",
    )
    NO_PROFILE_PAGE = (
        "no-profile-page",
        Topic.COMMANDS,
        "The page of a profile could not be written.",
        "Check the path.",
        (WARNING,),
    )
    NOT_A_NUMBER = ("not-a-number", Topic.COMMANDS, "A command of the shell needs a number.", "Write one.")
    NOT_WRITABLE = (
        "not-writable",
        Topic.COMMANDS,
        "Facts cannot be written in the format of an export.",
        "Choose predicates with `--predicate`, or leave the facts out with `--on-error skip`.",
    )
    NOTHING_TO_UNDO = ("nothing-to-undo", Topic.COMMANDS, "The shell has no change left to undo.", "Nothing.")
    OUTPUT_EXISTS = (
        "output-exists",
        Topic.COMMANDS,
        "There is something at the path of an export already.",
        "Choose a new or empty directory.",
    )
    UNKNOWN_COMMAND = ("unknown-command", Topic.COMMANDS, "The shell does not have the command.", "See `:help`.")
    UNKNOWN_SETTING = (
        "unknown-setting",
        Topic.COMMANDS,
        "There is no setting with this name.",
        "Correct the name; the message shows the settings.",
    )
    WARNINGS = (
        "warnings",
        Topic.COMMANDS,
        "There were warnings, and `--warnings error` ends the command for them.",
        "Correct what they say, or leave out `--warnings error`.",
    )
