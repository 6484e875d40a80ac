"""SPARQL 1.1: queries and updates over the facts of knowledge bases, evaluated on columns by the engine.

The stages of a query: :mod:`.parsing` and :mod:`.translation` (with rdflib) turn a text into :mod:`.algebra`;
:mod:`.evaluation` turns that into a :mod:`.table` of solutions, with basic graph patterns and paths as rules
(:mod:`.matching`, :mod:`.paths`) over facts seen as triples (:mod:`.graphs`); :mod:`.results` shows them, and
:mod:`.formats` writes them.
"""
