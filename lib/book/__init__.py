"""The book: notebooks are published, pages are built, charts are drawn without a network."""
