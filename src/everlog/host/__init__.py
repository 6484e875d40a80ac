"""What this process gets from its machine and around it: memory, interrupts, addresses, the session of Spark."""
