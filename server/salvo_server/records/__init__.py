"""What is left of a game: the signed log, said again on request, transcripts, and where written games come from."""
