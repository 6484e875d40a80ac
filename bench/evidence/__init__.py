"""The report of all benchmarks: the papers' tables beside ours, the peers, and the cases where Everlog is slower."""
