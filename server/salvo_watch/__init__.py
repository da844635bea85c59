"""What people watch: a game in pictures, live or replayed, for all, a team or a referee. Nothing is decided here."""
