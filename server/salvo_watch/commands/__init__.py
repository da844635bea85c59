"""The commands of a spectator."""
