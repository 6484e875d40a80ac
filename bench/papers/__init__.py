"""The papers' experiments on their own programs and data: ``python -m bench papers``."""
