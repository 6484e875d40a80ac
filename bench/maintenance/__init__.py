"""The papers' experiments with every maintenance algorithm: ``python -m bench maintenance``."""
