"""Analysis of programs without their facts: arity, safety, dependencies, strata."""
