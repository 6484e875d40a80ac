"""The results of one dataset as the tables read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.report import Results


@dataclass(frozen=True)
class Record:
    """The results of a dataset; figures that were not measured, or whose run was stopped, are None."""

    results: Results

    @property
    def name(self) -> str:
        return str(self.results["name"])

    @property
    def paper(self) -> str:
        """Its name in the papers."""
        return str(self.results["paper"])

    def made(self, modules: bool, maintain: str = "none") -> Results:
        """Materialising; empty if it failed or was stopped."""
        every = (one for one in self.results["materialise"] if "seconds" in one)
        return next((one for one in every if (one["modules"], one["maintain"]) == (modules, maintain)), {})

    def update(self, stratification: str = "levels", modules: bool = False) -> Results:
        every = (one for one in self.results["updates"] if "records" in one)
        return next((one for one in every if (one["stratification"], one["modules"]) == (stratification, modules)), {})

    def changed(
        self, algorithm: str, kind: str = "delete", sampling: str = "uniform", **variant: Any
    ) -> dict[str, Any]:
        """The measurements of an algorithm on small changes; ``variant`` are arguments of :meth:`update`."""
        for one in self.update(**variant).get("records", ()):
            if (one["algorithm"], one["kind"], one["sampling"]) == (algorithm, kind, sampling):
                return dict(one) if one["cut_off"] is None and one["mean"] else {}
        return {}

    def seconds(self, algorithm: str, kind: str = "delete", sampling: str = "uniform", **variant: Any) -> float | None:
        """The mean seconds of a small change."""
        mean = self.changed(algorithm, kind, sampling, **variant).get("mean")
        return mean[0] if mean else None

    def instances(self, algorithm: str, kind: str = "delete", **options: Any) -> dict[str, float]:
        """The mean numbers of instances of a small change, by phase."""
        return {
            phase: mean for phase, (mean, _) in self.changed(algorithm, kind, **options).get("instances", {}).items()
        }

    def derivations(self, algorithm: str, kind: str = "delete", **options: Any) -> float | None:
        """The mean number of instances of all phases."""
        return sum(self.instances(algorithm, kind, **options).values()) or None

    @property
    def scaling(self) -> Results:
        results: Results = self.results["scaling"]
        return {} if "error" in results else results


def ratio(figures: Mapping[str, Any], above: str, below: str) -> float | None:
    """A figure divided by another.

    >>> ratio({"a": 3.0, "b": 2.0}, "a", "b"), ratio({"a": 3.0}, "a", "b")
    (1.5, None)
    """
    return over(figures.get(above), figures.get(below))


def over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
