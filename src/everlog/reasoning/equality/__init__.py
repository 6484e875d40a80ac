"""Equality by representatives: reasoning uses one of several equal terms.

``owl:sameAs(a, b)`` says that a and b are the same. With the axioms of equality as rules (see
:mod:`everlog.owl.equality`) a fact about one of n equal terms becomes n facts, a pair n * n, and each is derived from
each. Here facts are *normalised*: each term is replaced by the representative of its class. Rules are evaluated on
normalised facts, and the facts that users see are *expanded* again. That is the approach of Motik, Nenov, Piro and
Horrocks (Handling owl:sameAs via Rewriting, AAAI 2015).

:mod:`everlog.reasoning.merging` describes how the classes are found, and updated when facts change.
"""

from typing import Literal

Equality = Literal["off", "rules", "representatives"]
"""The meaning of ``owl:sameAs``: ``off``, an ordinary predicate; ``rules``, a predicate whose axioms are rules of the
programs of ontologies; ``representatives``, equality of terms."""
