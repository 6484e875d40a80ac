"""Reasoning on Spark: facts stay in the executors, the driver only steers."""
