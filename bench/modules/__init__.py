"""Closures and unions as modules, plain and compact, beside general rules. ``python -m bench.modules``."""
