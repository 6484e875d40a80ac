"""Universities modelled on LUBM: departments, staff, students, courses, publications, and an ontology as rules.

Counts per department follow the Lehigh University Benchmark. Individuals are numbers, drawn with a seed. The rules are
the datalog part of such an ontology: classes, properties with domains, ranges and inverses, the transitive
``subOrganizationOf``, definitions such as that of Chair, and a few joins.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bench.generators import distinct

Column = npt.NDArray[np.int64]

SUBCLASSES = {
    "Person": ("Employee", "Student", "GraduateStudent", "TeachingAssistant", "ResearchAssistant", "Director"),
    "Employee": ("Faculty", "AdministrativeStaff"),
    "Faculty": ("Professor", "Lecturer", "PostDoc"),
    "Professor": ("FullProfessor", "AssociateProfessor", "AssistantProfessor", "VisitingProfessor", "Chair", "Dean"),
    "Student": ("UndergraduateStudent",),
    "Organization": ("University", "Department", "ResearchGroup", "College", "Institute", "Program"),
    "Work": ("Course", "Research"),
    "Course": ("GraduateCourse",),
    "Publication": ("Article", "Book", "Manual", "Software"),
    "Article": ("ConferencePaper", "JournalArticle", "TechnicalReport"),
}
SUBPROPERTIES = {
    "memberOf": ("worksFor",),
    "worksFor": ("headOf",),
    "degreeFrom": ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"),
}
INVERSES = (("memberOf", "member"), ("degreeFrom", "hasAlumnus"))
DOMAINS = {
    "memberOf": "Person",
    "degreeFrom": "Person",
    "advisor": "Person",
    "teacherOf": "Faculty",
    "teachingAssistantOf": "TeachingAssistant",
    "publicationAuthor": "Publication",
    "subOrganizationOf": "Organization",
    "hasAlumnus": "University",
    "member": "Organization",
    "researchProject": "ResearchGroup",
}
RANGES = {
    "degreeFrom": "University",
    "hasAlumnus": "Person",
    "advisor": "Professor",
    "teacherOf": "Course",
    "teachingAssistantOf": "Course",
    "publicationAuthor": "Person",
    "subOrganizationOf": "Organization",
    "member": "Person",
    "researchProject": "Research",
}
DEFINITIONS = """
subOrganizationOf(?x, ?z) :- subOrganizationOf(?x, ?y), subOrganizationOf(?y, ?z) .
Chair(?x) :- Person(?x), headOf(?x, ?y), Department(?y) .
Director(?x) :- Person(?x), headOf(?x, ?y), Program(?y) .
Dean(?x) :- headOf(?x, ?y), College(?y) .
Employee(?x) :- Person(?x), worksFor(?x, ?y), Organization(?y) .
Student(?x) :- Person(?x), takesCourse(?x, ?y), Course(?y) .
TeachingAssistant(?x) :- Person(?x), teachingAssistantOf(?x, ?y), Course(?y) .
affiliatedWith(?x, ?y) :- memberOf(?x, ?y) .
affiliatedWith(?x, ?z) :- affiliatedWith(?x, ?y), subOrganizationOf(?y, ?z) .
taughtBy(?x, ?z) :- takesCourse(?x, ?y), teacherOf(?z, ?y) .
advisedByTeacher(?x, ?y) :- advisor(?x, ?y), taughtBy(?x, ?y) .
homeGraduate(?x) :- undergraduateDegreeFrom(?x, ?y), affiliatedWith(?x, ?y) .
"""


def rules() -> str:
    """The ontology as rules.

    >>> rules().count(":-")
    74
    """
    lines = [f"{upper}(?x) :- {lower}(?x) ." for upper, lowers in SUBCLASSES.items() for lower in lowers]
    lines += [f"{upper}(?x, ?y) :- {lower}(?x, ?y) ." for upper, lowers in SUBPROPERTIES.items() for lower in lowers]
    for one, other in INVERSES:
        lines += [f"{other}(?y, ?x) :- {one}(?x, ?y) .", f"{one}(?x, ?y) :- {other}(?y, ?x) ."]
    lines += [f"{domain}(?x) :- {property}(?x, ?y) ." for property, domain in DOMAINS.items()]
    lines += [f"{range_}(?y) :- {property}(?x, ?y) ." for property, range_ in RANGES.items()]
    return "\n".join(lines) + DEFINITIONS


@dataclass
class Generator:
    """Numbers the individuals and collects the facts."""

    random: np.random.Generator
    individuals: int = 0
    facts: dict[str, list[npt.NDArray[np.int64]]] = field(default_factory=dict)

    def each(self, owners: Column, fewest: int, most: int) -> tuple[Column, Column]:
        """New individuals, between ``fewest`` and ``most`` for each owner, and the owner of each."""
        owned = np.repeat(owners, self.random.integers(fewest, most + 1, size=len(owners)))
        self.individuals += len(owned)
        return np.arange(self.individuals - len(owned), self.individuals), owned

    def drawn(self, groups: Column, members: Column, member_groups: Column) -> Column:
        """For each entry of ``groups`` a random member of that group; ``members`` is sorted by group."""
        starts = np.searchsorted(member_groups, groups)
        sizes = np.searchsorted(member_groups, groups, side="right") - starts
        return members[starts + (self.random.random(len(groups)) * sizes).astype(np.int64)]

    def some(self, share: float, *columns: Column) -> tuple[Column, ...]:
        kept = self.random.random(len(columns[0])) < share
        return tuple(column[kept] for column in columns)

    def add_facts(self, predicate: str, *columns: Column) -> None:
        self.facts.setdefault(predicate, []).append(np.stack(columns, axis=1))


def universities(count: int, seed: int) -> dict[str, npt.NDArray[np.int64]]:
    """The explicit facts about a number of universities, about 66,000 for each.

    >>> facts = universities(1, seed=1)
    >>> 50_000 < sum(map(len, facts.values())) < 90_000
    True
    """
    g = Generator(np.random.default_rng(seed), individuals=count)
    all_universities = np.arange(count)
    departments, university = g.each(all_universities, 15, 25)
    groups, group_department = g.each(departments, 10, 20)
    g.add_facts("University", all_universities)
    g.add_facts("Department", departments)
    g.add_facts("ResearchGroup", groups)
    g.add_facts("subOrganizationOf", departments, university)
    g.add_facts("subOrganizationOf", groups, group_department)
    professors, professor_department = _professors(g, departments)
    lecturers, lecturer_department = g.each(departments, 5, 7)
    g.add_facts("Lecturer", lecturers)
    staff, staff_department = _by_department((professors, professor_department), (lecturers, lecturer_department))
    g.add_facts("worksFor", staff, staff_department)
    for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
        g.add_facts(degree, staff, g.random.integers(0, count, size=len(staff)))
    courses, graduate_courses = _courses(g, staff, staff_department)
    _students(g, staff_department, (professors, professor_department), courses, graduate_courses, count)
    papers, author = g.each(professors, 5, 18)
    g.add_facts("JournalArticle", papers)
    g.add_facts("publicationAuthor", papers, author)
    return {predicate: distinct(np.concatenate(parts)) for predicate, parts in g.facts.items()}


def _professors(g: Generator, departments: Column) -> tuple[Column, Column]:
    ranks = {"FullProfessor": (7, 10), "AssociateProfessor": (10, 14), "AssistantProfessor": (8, 11)}
    results = []
    for rank, (fewest, most) in ranks.items():
        professors, department = g.each(departments, fewest, most)
        g.add_facts(rank, professors)
        if rank == "FullProfessor":
            g.add_facts(
                "headOf", *(column[np.unique(department, return_index=True)[1]] for column in (professors, department))
            )
        results.append((professors, department))
    return _by_department(*results)


def _courses(g: Generator, staff: Column, staff_department: Column) -> tuple[tuple[Column, Column], ...]:
    """The courses and the graduate courses, each with their departments."""
    results = []
    for kind in ("Course", "GraduateCourse"):
        courses, at = g.each(np.arange(len(staff)), 1, 2)
        g.add_facts(kind, courses)
        g.add_facts("teacherOf", staff[at], courses)
        results.append((courses, staff_department[at]))
    return tuple(results)


def _students(
    g: Generator,
    staff_department: Column,
    professors: tuple[Column, Column],
    courses: tuple[Column, Column],
    graduate_courses: tuple[Column, Column],
    universities: int,
) -> None:
    kinds = (("UndergraduateStudent", 8, 14, 4, courses, 0.2), ("GraduateStudent", 3, 4, 3, graduate_courses, 1.0))
    for kind, fewest, most, at_most, offered, advised in kinds:
        students, department = g.each(staff_department, fewest, most)
        g.add_facts(kind, students)
        g.add_facts("memberOf", students, department)
        for number in range(at_most):
            takers, where = (students, department) if number < 2 else g.some(0.5, students, department)
            g.add_facts("takesCourse", takers, g.drawn(where, *offered))
        advisees, where = g.some(advised, students, department)
        g.add_facts("advisor", advisees, g.drawn(where, *professors))
        if kind == "GraduateStudent":
            g.add_facts("undergraduateDegreeFrom", students, g.random.integers(0, universities, size=len(students)))
            assistants, where = g.some(0.2, students, department)
            g.add_facts("teachingAssistantOf", assistants, g.drawn(where, *courses))
            g.add_facts("ResearchAssistant", *g.some(0.3, students))


def _by_department(*parts: tuple[Column, Column]) -> tuple[Column, Column]:
    people, departments = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(departments, kind="stable")
    return people[order], departments[order]
