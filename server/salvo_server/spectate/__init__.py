"""What people look at: pictures of a game, live or again, for everybody, a team or a referee. Nothing here decides."""
