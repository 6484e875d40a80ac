"""The rows that the work over back ends writes lead from each version to the next, over a back end with local facts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import ChangeOptions
from everlog.backends.working import OpenedVersion, derive_version, update_version
from everlog.backends.written import Sizes, WrittenChange
from everlog.engine.algebra import AnyFactSet
from everlog.engine.dictionary import Dictionary
from everlog.engine.difference import Difference
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.match import Engine
from everlog.engine.multiset import NO_COUNTS, Counts
from everlog.kb.reasoner import arranged
from everlog.lang.syntax import Program
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.modules.boundary import stored
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.update import materialise
from tests.oracle import naive
from tests.reasoning.test_maintenance import Ids
from tests.reasoning.test_rule_changes import Pools, closures, others, subset
from tests.strategies import updates


@dataclass
class Here:
    """A back end with the facts of a version in this process; ``rows`` are those that were written so far."""

    version: OpenedVersion[FactSet, Counts]
    engine: Engine
    rows: Difference = field(default_factory=Difference)
    after: Materialisation | None = None

    def sizes(self, facts: AnyFactSet) -> Sizes:
        return {predicate: len(relation) for predicate, relation in as_local(facts).items() if len(relation)}

    def write(self, seen: SeenChange, sizes: Sizes) -> list[Path]:
        written = seen.rows()
        assert sum(len(multiset.whole()[0]) for multiset in written.holds.values()) == sum(sizes.values())
        self.after = new = cast("Materialisation", seen.change.materialisation)
        if seen.change.nr is None and new.nr is not None and new.rec is not None:
            nr, rec = seen.counted(new.nr) - self.rows.nr, seen.counted(new.rec) - self.rows.rec
            written = replace(written, nr=nr, rec=rec)
        self.rows = self.rows.plus(written)
        return []


@dataclass
class History:
    """Versions that follow each other, each made from the one before; the store has the sums of the rows."""

    ids: Ids
    here: Here
    explicit: FactSet = field(default_factory=FactSet)

    def note(self, done: WrittenChange, program: StratifiedProgram, delete: FactSet, insert: FactSet) -> None:
        """Check what was written, and go on with it."""
        assert done.not_explicit == (delete - self.explicit).count
        self.explicit = (self.explicit - delete) | insert
        after = self.here.after if self.here.after is not None else self.here.version.materialisation
        kept = "dredc" if after.nr is not None else "none"
        fresh, _ = materialise(self.ids.engine(), program, self.explicit.renamed(program.external), kept)  # type: ignore[arg-type]
        state = stored(program, Dictionary(), fresh, done.generated)
        facts, explicit, nr, rec = self.here.rows.parts
        assert facts == Counts.once(state.rows.plain())
        assert explicit == Counts.once(state.explicit)
        assert (nr, rec) == (state.nr or NO_COUNTS, state.rec or NO_COUNTS)
        whole = sum(len(relation) for relation in stored(program, Dictionary(), fresh).facts.values())
        figures = done.figures
        assert (figures["facts"], figures["listed"]) == (whole, sum(map(len, state.rows.values())))
        assert figures["explicit"] == self.explicit.count
        version = OpenedVersion(program, after, done.generated, figures)
        self.here = Here(version, self.ids.engine(), self.here.rows)


def follow(data: st.DataObject, drawn: Pools) -> None:
    """A version from nothing, then changes of facts and of rules."""
    case, ids, modules = drawn.case, Ids(drawn.case), data.draw(st.booleans())
    counts = Counts() if data.draw(st.booleans()) else None
    most = data.draw(st.sampled_from([None, 0, 3, 10]))
    pool = st.sampled_from(drawn.pools)

    def some_rules() -> StratifiedProgram:
        return arranged(check(Program(subset(data, data.draw(pool)))), "levels", modules)

    program = some_rules()
    nothing = Materialisation(FactSet(), FactSet(), counts, counts)
    history = History(ids, Here(OpenedVersion(program, nothing), ids.engine()))
    insert = ids.facts(case.facts | naive.explicit(case.program))
    history.note(derive_version(history.here, program, NONE, insert, most), program, NONE, insert)
    for change in data.draw(updates(case, max_size=3)):
        delete, insert = ids.facts(change.delete), ids.facts(change.insert)
        if data.draw(st.booleans()):
            algorithm: Any = data.draw(st.sampled_from(["auto", "dredc", "bfc", "dred", "rematerialise"]))
            done = update_version(history.here, delete, insert, ChangeOptions(algorithm=algorithm))
        else:
            program = some_rules()
            done = derive_version(history.here, program, delete, insert, most)
        history.note(done, program, delete, insert)


@given(data=st.data(), drawn=others())
def test_any_rules(data: st.DataObject, drawn: Pools) -> None:
    follow(data, drawn)


@given(data=st.data(), drawn=closures())
def test_rules_of_closures(data: st.DataObject, drawn: Pools) -> None:
    follow(data, drawn)
