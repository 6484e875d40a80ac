"""Every compiled function. Importing any of them first makes sure that there is a place for what is compiled."""

from everlog.engine.kernels.cache import ensure_place

ensure_place()
