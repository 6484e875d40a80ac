"""The local engine: dictionary, sorted runs, relations, fact sets, plans, matching; compiled functions in kernels."""
