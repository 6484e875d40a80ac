"""Reasoning on Spark: facts stay in the executors, and the driver receives only counts and names of files."""
