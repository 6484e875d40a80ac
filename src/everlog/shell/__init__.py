"""A shell on a live knowledge base: rules, facts, queries and commands, typed or from a pipe.

``reading`` says when an input is complete and what kind it is, ``inputs`` carries it out on a ``session``,
``commands`` are the inputs that begin with a colon, ``completion`` and ``terminal`` help on a terminal, and ``loop``
reads one input after another.
"""
