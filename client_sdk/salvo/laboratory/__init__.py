"""Games without a broker: one in the arena, many on all cores, and which of two bots is better."""
