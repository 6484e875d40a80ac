"""The environment of the process: memory, interrupts, addresses, the session of Spark."""
