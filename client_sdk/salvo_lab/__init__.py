"""Everything without a broker: games in the arena, many on all cores, bots, programs, and pictures of them."""
