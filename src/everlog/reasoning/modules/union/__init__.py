"""Virtual unions: predicates that are the union of others and keep nothing."""
