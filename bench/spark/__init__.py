"""Reasoning on Spark, compared with the DataFrame loops that a user would write."""
