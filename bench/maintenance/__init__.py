"""How updates compare: the papers' experiments on every maintenance algorithm. ``python -m bench.maintenance``."""
