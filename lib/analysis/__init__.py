"""What measures: scores with their uncertainty, from frames of trajectories and verdicts."""
