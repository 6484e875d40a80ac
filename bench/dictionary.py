"""The number of distinct terms that the dictionary encodes and decodes per second."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np


def terms_per_second(terms: int) -> dict[str, Any]:
    """Millions of terms per second on one core: new terms encoded, and terms decoded in the order of their ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from everlog.engine.dictionary import Dictionary

    numbers = pa.array(np.random.default_rng(0).permutation(terms)).cast(pa.large_string())
    ends = (pa.scalar(text, pa.large_string()) for text in ("<http://example.org/entity/", ">", ""))
    iris = pc.binary_join_element_wise(next(ends), numbers, *ends)
    warm = Dictionary()
    warm.decode(warm.encode(numbers[:10]))
    return {kind: _rates(array) for kind, array in (("integers", numbers), ("IRIs", iris))}


def _rates(array: Any) -> dict[str, float]:
    from everlog.engine.dictionary import Dictionary

    best = {"encode": 0.0, "decode": 0.0}
    for _ in range(3):
        dictionary = Dictionary()
        began = perf_counter()
        ids = dictionary.encode(array)
        encoded = perf_counter()
        back = dictionary.decode(ids)
        decoded = perf_counter()
        if not back.equals(array):
            raise RuntimeError("a term came back as another")
        best["encode"] = max(best["encode"], len(array) / (encoded - began) / 1e6)
        best["decode"] = max(best["decode"], len(array) / (decoded - encoded) / 1e6)
    return best
