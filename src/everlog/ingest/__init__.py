"""From files, tables and rows to encoded facts: sources, readers, values, encoding, staging."""
