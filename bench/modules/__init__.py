"""Closures and unions as modules, plain and compact, compared with general rules: ``python -m bench modules``."""
