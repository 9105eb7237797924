"""The world of part II: single-shot plans of tool calls over small workflow graphs, with known scores."""
