"""What can be said about a program before it meets facts: arity, safety, dependencies, strata."""
