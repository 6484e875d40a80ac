"""``everlog check`` shows strata, modules, plans and warnings, or all mistakes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import FAMILY, CommandLine


def test_strata_and_plans(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text(FAMILY)
    done = everlog_command("check", "r.rls", "--modules", "off")
    assert done.status == 0
    assert done.out.startswith("r.rls: 5 rules, 7 facts, 7 predicates; 1 stratum (levels); 0 warnings\n")
    assert "facts only: parent/2, ex:met/2, rainy/0\n" in done.out
    assert (
        """\
  ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    recursive, line 4
      scan   ancestor(?x, ?y) (changed)
      join   parent(?y, ?z)
      head   ancestor(?x, ?z) (grouped)
"""
        in done.out
    )
    assert done.out.count("    nonrecursive, line") == 4


def test_a_plan_for_each_atom_that_may_change(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .")
    assert everlog_command("check", "r.rls", "--modules", "off").out.count("(changed)") == 2
    assert "scan" not in everlog_command("check", "r.rls", "--no-plans").out


def test_modules(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text(
        """\
@prefix ex: <http://example.org/> .
ancestor(?x, ?y) :- ex:parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), ex:parent(?y, ?z) .
ex:in(?x, ?z) :- ex:in(?x, ?y), ex:in(?y, ?z) .
ex:in(?x, ?y) :- ex:at(?x, ?y), ~ex:parent(?x, ?y) .
near(?x, ?y) :- ex:in(?y, ?x) .
cousin(?x, ?y) :- ex:parent(?x, ?v), cousin(?v, ?w), ex:parent(?y, ?w) .
"""
    )
    done = everlog_command("check", "r.rls", "--no-plans")
    assert done.status == 0
    assert (
        done.out
        == """\
r.rls: 6 rules, 0 facts, 6 predicates; 4 strata (levels), 3 modules; 0 warnings
facts only: ex:parent/2, ex:at/2

stratum 1: ex:in external/2, cousin/2
  ex:in external(?x, ?y) :- ex:at(?x, ?y), ~ex:parent(?x, ?y) .
  cousin(?x, ?y) :- ex:parent(?x, ?v), cousin(?v, ?w), ex:parent(?y, ?w) .

stratum 2: ancestor/2
  module linear: ancestor external / ex:parent* | ex:parent+
    ancestor(?x, ?z) :- ancestor(?x, ?y), ex:parent(?y, ?z) .
    ancestor(?x, ?y) :- ex:parent(?x, ?y) .

stratum 3: ex:in/2
  module transitive: (ex:in external)+
    ex:in(?x, ?z) :- ex:in(?x, ?y), ex:in(?y, ?z) .

stratum 4: near/2
  module union: near external | ^ex:in
    near(?x, ?y) :- ex:in(?y, ?x) .

recursive rules that no module takes:
  cousin(?x, ?y) :- ex:parent(?x, ?v), cousin(?v, ?w), ex:parent(?y, ?w) .
    the atom of the recursion is in the middle of its path
"""
    )


def test_stratification(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text("p(?x) :- e(?x) . q(?x) :- p(?x) . r(?x) :- q(?x), ~p(?x) .")
    assert "3 strata (levels)" in everlog_command("check", "r.rls").out
    assert "2 strata (single)" in everlog_command("check", "r.rls", "--stratification", "single").out


def test_warnings_are_shown(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text("p(?x) :- q(?x, ?y) .")
    done = everlog_command("check", "r.rls")
    assert done.status == 0
    assert "1 warning" in done.out
    assert "warning[single-use]" in done.out


def test_all_errors_at_once(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text("p(?x) :- q(?y) .\nr(?z) :- s(_), ~q(?z) .\n")
    done = everlog_command("check", "r.rls")
    assert (done.status, done.out) == (1, "")
    assert done.err.count("error[unsafe-variable]") == 2
    assert "r.rls:1:3" in done.err
    assert "r.rls:2:3" in done.err


def test_no_file(everlog_command: CommandLine) -> None:
    done = everlog_command("check", "nothing.rls")
    assert done.status == 1
    assert "unreadable-file" in done.err


ON_SPARK = """\
stratum 1: sg/2, same external/2
  sg(?x, ?y) :- flat(?x, ?y) .
  same external(?x, ?y) :- link(?x, ?y) .
  sg(?x, ?y) :- up(?x, ?a), sg(?a, ?b), down(?b, ?y) .
  on Spark of same external/2: nonrecursive: no rule depends on another of the stratum
  on Spark of sg/2: rounds: one recursive atom a rule, so known facts stay in their slices
    the recursion does not decompose
    argument 1 of sg: ?x, ?a are not one variable in sg(?x, ?y) :- up(?x, ?a), sg(?a, ?b), down(?b, ?y) .
    argument 2 of sg: ?y, ?b are not one variable in sg(?x, ?y) :- up(?x, ?a), sg(?a, ?b), down(?b, ?y) .
    shares 3,000,000 facts (shared-facts 12,000,000)
    finished in one task if all of its facts fit there (spark-local-finish 4,000,000)
"""
UPDATES = """
updates on Spark: in one task that looks up what it needs
  unless that is more rows of the store (look-up-rows 50,000,000) or facts (spark-local-finish 4,000,000)
  otherwise in one task as a whole if the store has few rows (spark-local-finish 4,000,000)
  otherwise distributed; of predicates with many rows, tasks find what to read (probe-rows 4,000,000)
"""


def test_how_spark_evaluates_strata(everlog_command: CommandLine, tmp_path: Path) -> None:
    rules = """path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    sg(?x, ?y) :- flat(?x, ?y) . sg(?x, ?y) :- up(?x, ?a), sg(?a, ?b), down(?b, ?y) .
    same(?x, ?y) :- same(?y, ?x) . same(?x, ?z) :- same(?x, ?y), same(?y, ?z) . same(?x, ?y) :- link(?x, ?y) ."""
    (tmp_path / "r.rls").write_text(rules)
    done = everlog_command("check", str(tmp_path / "r.rls"), "--engine", "spark")
    assert done.status == 0
    assert ON_SPARK in done.out
    assert done.out.endswith(UPDATES)
    assert "on Spark: reachability: a linear closure\n    2,000,000 edges condensed in one task" in done.out
    assert "(slice-pairs 65,536)\n    stored unless there are more facts (expand-below 50,000,000)" in done.out
    assert "on Spark: components: symmetric and transitive" in done.out
    plain = everlog_command("check", str(tmp_path / "r.rls"), "--engine", "spark", "--modules", "off")
    assert "on Spark of path/2: decomposed: by argument 1 of path; sharing edge" in plain.out
    assert "8 slices for each shuffle partition (slices 8), fewer for few facts (slice-facts 16,384)" in plain.out
    others = everlog_command(
        "check", "r.rls", "--engine", "spark", "--spark-local-finish", "0", "--expand-below", "7", "--modules", "on"
    )
    assert (others.out.count("(spark-local-finish 0)"), others.out.count("(expand-below 7)")) == (3, 2)


def test_where_auto_leaves_strata(everlog_command: CommandLine, tmp_path: Path) -> None:
    rules = "p(?x, ?z) :- e(?x, ?y), f(?y, ?z) . q(?x) :- p(?x, ?y), ~g(?y, _), h(?x), i(?x) ."
    (tmp_path / "r.rls").write_text(rules)
    done = everlog_command("check", str(tmp_path / "r.rls"), "--engine", "auto", "--memory", "2400m")
    assert "on Spark: local: the local engine in one task\n    reads 3,000,000 facts, so 15,000,000" in done.out
    assert "5,000,000 facts, so 25,000,000 are expected (growth 4), too many for one task (local-facts" in done.out
    assert "otherwise in one task as a whole if the store has few rows (local-facts" in done.out
    assert "on Spark" not in everlog_command("check", str(tmp_path / "r.rls")).out


OBVIOUS = "ancestor(?x, ?y) :- parent(?x, ?y) .\nancestor(?x, ?z) :- parnet(?x, ?y), ancestor(?y, ?z) .\n"


def test_a_misspelt_predicate_of_the_data_is_warned_of(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text(OBVIOUS)
    done = everlog_command("check", "r.rls")
    assert done.status == 0
    assert "1 warning\n" in done.out
    assert "`parnet` has no rule and no fact in the program" in done.out
    assert "r.rls:2:21" in done.out
    assert "did you mean `parent`?" in done.out


def test_warnings_are_errors_if_asked_for(everlog_command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text(OBVIOUS)
    (tmp_path / "good.rls").write_text("p(?x) :- q(?x) .")
    done = everlog_command("check", "r.rls", "--warnings", "error")
    assert done.status == 1
    assert "possible-typo" in done.out
    assert "error[warnings]" in done.err
    assert everlog_command("check", "good.rls", "--warnings", "error").status == 0
