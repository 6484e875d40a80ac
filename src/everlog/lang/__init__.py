"""The rule language: terms, syntax, parser, printer, errors."""
