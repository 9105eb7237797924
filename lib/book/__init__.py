"""The book: notebooks are executed, pages are built, charts are drawn without a network."""
