"""The commands of an organiser."""
