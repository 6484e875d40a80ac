"""From files and DataFrames to encoded facts: readers, encoding, dictionary, and the jobs that run them on Spark."""
