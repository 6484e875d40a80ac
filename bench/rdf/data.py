"""The data sets: one university as published, or a number of generated ones, always with LUBM's ontology."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from bench import lubm
from bench.inputs import SHARED

ONTOLOGY = SHARED / "lubm" / "univ-bench.ttl"
EMPLOYEE = f"{lubm.NAMESPACE}Employee"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_BASE = "http://www.Department0.University0.edu/"


@dataclass(frozen=True)
class RdfWorkload:
    """A number of universities; if it is one, that is the published university."""

    name: str
    universities: int

    def write(self, directory: Path) -> int:
        """Write ``data.nt``, a hard link ``data.ttl`` for systems that go by extension, and ``ontology.ttl``; return
        the number of lines."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "ontology.ttl").write_bytes(ONTOLOGY.read_bytes())
        data, count = directory / "data.nt", 0
        with data.open("w", encoding="utf-8") as file:
            for lines in [_published()] if self.universities == 1 else map(_generated, range(self.universities)):
                file.writelines(lines)
                count += len(lines)
        (directory / "data.ttl").hardlink_to(data)
        return count


def _published() -> dict[str, None]:
    import pyoxigraph as ox

    results: dict[str, None] = {}
    for path in sorted((SHARED / "lubm" / "data").glob("*.rdf.gz")):
        for quad in ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.RDF_XML, base_iri=_BASE):
            results[f"{quad.triple} .\n"] = None
    return results


def _generated(number: int) -> dict[str, None]:
    """The triples of one university. A few of them, such as types of other universities, are repeated there."""
    return dict.fromkeys(f"{' '.join(triple)} .\n" for triple in lubm.university(number))


def queries() -> dict[str, str]:
    return {f"Q{number}": (SHARED / "lubm" / "queries" / f"q{number}.rq").read_text() for number in range(1, 15)}


WORKLOADS = {
    each.name: each for each in (RdfWorkload("lubm-1", 1), RdfWorkload("lubm-10", 10), RdfWorkload("lubm-50", 50))
}
