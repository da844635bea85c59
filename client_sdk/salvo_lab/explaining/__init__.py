"""What a game says of its bots: what each knew, what its shots gained, luck and skill."""
