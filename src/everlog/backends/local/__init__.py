"""The back end whose facts are in one process: a knowledge base, here or in a task of Spark."""
