"""Explanations: proofs of facts by the rules, and reasons why facts do not hold."""

from everlog.query.explain.content import Answer
from everlog.query.explain.explanation import Explanation
from everlog.query.explain.missing import Reason
from everlog.query.explain.proof import Proof, ProofStep
from everlog.query.explain.run import explain

__all__ = ["Answer", "Explanation", "Proof", "ProofStep", "Reason", "explain"]
