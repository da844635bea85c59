"""What a team checks and stores: the server's known key, its signed log, and a proof of each game."""
