"""Equality by representatives: of terms that are the same, reasoning sees one.

``owl:sameAs(a, b)`` says that a and b are the same. With the axioms of equality as rules (see
:mod:`everlog.owl.equality`) a fact about one of n equal terms becomes n facts, a pair n * n, and each is derived from
each. Here facts are *normalised*: each term is replaced by the representative of its class. Rules are evaluated on
normalised facts, and what users see is *expanded* again. That is the approach of Motik, Nenov, Piro and Horrocks
(Handling owl:sameAs via Rewriting, AAAI 2015).

How the classes themselves are found, and kept right when facts come and go, is told in
:mod:`everlog.reasoning.merging`.
"""

from typing import Literal

Equality = Literal["off", "rules", "representatives"]
"""What ``owl:sameAs`` is: a predicate like others; one that ontologies derive, and whose axioms are rules of their
programs; or what makes terms one term."""
