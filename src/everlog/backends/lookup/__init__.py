"""Updates in one task that read only the row groups of a store in which they look facts up.

The local engine reasons over relations whose facts are fetched by a term in one of their columns. So the cost of a
small change depends on the facts that it touches, not on the size of the store.
"""
