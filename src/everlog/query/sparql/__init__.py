"""SPARQL 1.1: queries and updates over the facts of knowledge bases, evaluated on columns by the engine.

The way of a query: :mod:`.parsing` and :mod:`.translation` (rdflib) make :mod:`.algebra` of a text;
:mod:`.evaluation` makes a :mod:`.table` of solutions of it, with basic graph patterns and paths as rules
(:mod:`.matching`, :mod:`.paths`) over facts seen as triples (:mod:`.graphs`); :mod:`.results` shows them, and
:mod:`.formats` writes them.
"""
