"""Benchmarks: seeded workloads, a hand-written yardstick, the peers, and the targets they are held to."""
