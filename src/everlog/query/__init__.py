"""Queries: conjunctions of atoms and their answers; SPARQL and explanations."""
