"""The local engine: dictionary, sorted runs, relations, fact sets, plans and matching; compiled functions in kernels."""
