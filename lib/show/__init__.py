"""What a reader sees: sentences, tables, charts, one theme."""
