"""A run on disk, of any study: read it, check it, append to it, go on where it stopped."""
