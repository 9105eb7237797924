"""What single chapters gather from a run, and the sentences that say it: they follow the data, so they are tested."""
