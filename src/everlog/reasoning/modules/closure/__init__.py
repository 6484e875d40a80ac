"""Closures: transitive, symmetric and transitive, linear, and chains of linear rules."""
