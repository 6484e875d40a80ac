"""A shell on a live knowledge base: rules, facts, queries and commands, typed or from a pipe.

``reading`` says when an input is complete and what kind it is, ``session`` carries it out, ``commands`` are those
that begin with a colon, ``completion`` and ``terminal`` are the comfort of a terminal, ``loop`` is the loop.
"""
