"""The support desk: a deterministic world in which every fault is known by construction."""
