"""Benchmarks: seeded workloads, hand-written reference kernels, the compared systems, and the targets."""
