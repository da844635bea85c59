"""Explain a game: what each bot knew, what its shots gained, luck and skill."""
