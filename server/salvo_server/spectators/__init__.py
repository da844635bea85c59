"""What a server publishes for spectators beyond the game itself: headlines, standings, the referee's view."""
