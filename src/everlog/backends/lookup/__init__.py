"""Updates by the part of a store that they ask for, in one task: row groups are read when something is looked up there.

The local engine reasons, over relations whose facts are fetched by a term in one of their columns. So a small change
costs what it touches, whatever there is around it.
"""
