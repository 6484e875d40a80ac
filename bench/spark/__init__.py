"""Reasoning on Spark against the DataFrame loops that a user would write."""
