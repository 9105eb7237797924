"""What judges: a view goes in, a verdict comes out, and the collector keeps it."""
