"""The screen of a person at a terminal."""
