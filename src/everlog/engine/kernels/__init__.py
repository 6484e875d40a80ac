"""All compiled functions. Importing one of them first makes sure that Numba can store compiled code."""

from everlog.engine.kernels.cache import ensure_place

ensure_place()
