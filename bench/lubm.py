"""The Lehigh University Benchmark's data, for any number of universities.

Classes, properties and ranges follow the published profile (Guo, Pan and Heflin, 2005): how many
departments a university has, how many professors, courses and students a department, how many
courses a student takes. Names are those of the original generator, so that its ontology and its
queries fit. A university depends only on its number and the seed, not on the number of universities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

NAMESPACE = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

Triple = tuple[str, str, str]
Range = tuple[int, int]

DEPARTMENTS: Range = (15, 25)
RANKS: dict[str, Range] = {
    "FullProfessor": (7, 10),
    "AssociateProfessor": (10, 14),
    "AssistantProfessor": (8, 11),
    "Lecturer": (5, 7),
}
PUBLICATIONS: dict[str, Range] = {
    "FullProfessor": (15, 20),
    "AssociateProfessor": (10, 18),
    "AssistantProfessor": (5, 10),
    "Lecturer": (0, 5),
    "GraduateStudent": (0, 5),
}
COURSES_TAUGHT: Range = (1, 2)
RESEARCH_GROUPS: Range = (10, 20)
UNDERGRADUATES_PER_FACULTY: Range = (8, 14)
GRADUATES_PER_FACULTY: Range = (3, 4)
UNDERGRADUATE_COURSES: Range = (2, 4)
GRADUATE_COURSES: Range = (1, 3)
ADVISED_UNDERGRADUATES = 5
"""One undergraduate out of this number has an advisor."""
TEACHING_ASSISTANTS: Range = (4, 5)
RESEARCH_ASSISTANTS: Range = (3, 4)
"""One graduate student out of a number in these ranges is an assistant."""
DEGREE_UNIVERSITIES = 1000
RESEARCH_INTERESTS = 30


def university(number: int, seed: int = 0) -> Iterator[Triple]:
    """The triples about one university as N-Triples terms. A few, such as types, are repeated.

    >>> first = list(university(0))
    >>> first == list(university(0)), 80_000 < len(first) < 180_000
    (True, True)
    """
    random = Random(f"{seed}/{number}")
    name = _university(number)
    yield name, TYPE, _term("University")
    yield name, _term("name"), f'"University{number}"'
    for department in range(random.randint(*DEPARTMENTS)):
        yield from _Department(random, number, department).triples()


def _term(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


def _university(number: int) -> str:
    return f"<http://www.University{number}.edu>"


@dataclass
class _Department:
    """Generates the triples of one department; names of courses, publications and people start with its name."""

    random: Random
    university: int
    number: int
    triples_made: list[Triple] = field(default_factory=list)
    publications: dict[str, list[str]] = field(default_factory=dict)
    courses: list[str] = field(default_factory=list)
    graduate_courses: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"Department{self.number}.University{self.university}.edu"

    @property
    def name(self) -> str:
        return f"<http://www.{self.host}>"

    def triples(self) -> list[Triple]:
        self._add_type(self.name, "Department", f"Department{self.number}")
        self._add(self.name, "subOrganizationOf", _university(self.university))
        faculty = self._faculty()
        professors = [person for person in faculty if "Professor" in person]
        graduates = self._graduates(len(faculty), professors)
        self._undergraduates(len(faculty), professors)
        self._assistants(graduates)
        for group in range(self.random.randint(*RESEARCH_GROUPS)):
            self._add_type(self._local(f"ResearchGroup{group}"), "ResearchGroup")
            self._add(self._local(f"ResearchGroup{group}"), "subOrganizationOf", self.name)
        return self.triples_made

    def _local(self, name: str) -> str:
        return f"<http://www.{self.host}/{name}>"

    def _add(self, subject: str, property: str, value: str) -> None:
        self.triples_made.append((subject, _term(property), value))

    def _add_type(self, subject: str, kind: str, name: str | None = None) -> None:
        self.triples_made.append((subject, TYPE, _term(kind)))
        if name is not None:
            self._add(subject, "name", f'"{name}"')

    def _person(self, kind: str, number: int) -> str:
        name = f"{kind}{number}"
        person = self._local(name)
        self._add_type(person, kind, name)
        self._add(person, "emailAddress", f'"{name}@{self.host}"')
        self._add(person, "telephone", '"xxx-xxx-xxxx"')
        return person

    def _degree(self, person: str, property: str) -> None:
        other = _university(self.random.randrange(DEGREE_UNIVERSITIES))
        self._add_type(other, "University")
        self._add(person, property, other)

    def _faculty(self) -> list[str]:
        faculty = []
        for rank, size in RANKS.items():
            people = [self._member_of_faculty(rank, number) for number in range(self.random.randint(*size))]
            if rank == "FullProfessor":
                self._add(self.random.choice(people), "headOf", self.name)
            faculty += people
        return faculty

    def _member_of_faculty(self, rank: str, number: int) -> str:
        person = self._person(rank, number)
        self._add(person, "worksFor", self.name)
        for property in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            self._degree(person, property)
        if rank != "Lecturer":
            self._add(person, "researchInterest", f'"Research{self.random.randrange(RESEARCH_INTERESTS)}"')
        for kind, courses in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            for _ in range(self.random.randint(*COURSES_TAUGHT)):
                course = f"{kind}{len(courses)}"
                courses.append(self._local(course))
                self._add_type(courses[-1], kind, course)
                self._add(person, "teacherOf", courses[-1])
        self._publish(person, f"{rank}{number}", self.random.randint(*PUBLICATIONS[rank]))
        return person

    def _publish(self, person: str, name: str, count: int) -> None:
        mine = self.publications.setdefault(person, [])
        for number in range(count):
            mine.append(self._local(f"{name}/Publication{number}"))
            self._add_type(mine[-1], "Publication", f"Publication{number}")
            self._add(mine[-1], "publicationAuthor", person)

    def _graduates(self, faculty: int, professors: Sequence[str]) -> list[str]:
        students = []
        for number in range(faculty * self.random.randint(*GRADUATES_PER_FACULTY)):
            student = self._student("GraduateStudent", number, self.graduate_courses, GRADUATE_COURSES)
            self._degree(student, "undergraduateDegreeFrom")
            advisor = self.random.choice(professors)
            self._add(student, "advisor", advisor)
            theirs = self.publications[advisor]
            for paper in self.random.sample(
                theirs, min(len(theirs), self.random.randint(*PUBLICATIONS["GraduateStudent"]))
            ):
                self._add(paper, "publicationAuthor", student)
            students.append(student)
        return students

    def _undergraduates(self, faculty: int, professors: Sequence[str]) -> None:
        for number in range(faculty * self.random.randint(*UNDERGRADUATES_PER_FACULTY)):
            student = self._student("UndergraduateStudent", number, self.courses, UNDERGRADUATE_COURSES)
            if self.random.randrange(ADVISED_UNDERGRADUATES) == 0:
                self._add(student, "advisor", self.random.choice(professors))

    def _student(self, kind: str, number: int, courses: Sequence[str], size: Range) -> str:
        student = self._person(kind, number)
        self._add(student, "memberOf", self.name)
        for course in self.random.sample(courses, self.random.randint(*size)):
            self._add(student, "takesCourse", course)
        return student

    def _assistants(self, graduates: Sequence[str]) -> None:
        """Make some graduates teaching assistants, each of a different course, and some others research assistants."""
        teaching = min(len(graduates) // self.random.randint(*TEACHING_ASSISTANTS), len(self.courses))
        research = len(graduates) // self.random.randint(*RESEARCH_ASSISTANTS)
        chosen = self.random.sample(graduates, teaching + research)
        for assistant, course in zip(chosen[:teaching], self.random.sample(self.courses, teaching), strict=True):
            self._add_type(assistant, "TeachingAssistant")
            self._add(assistant, "teachingAssistantOf", course)
        for assistant in chosen[teaching:]:
            self._add_type(assistant, "ResearchAssistant")
