"""Modules: what takes rules out of general evaluation, with its own way to derive and to keep the facts."""
