"""A language model as a player: its program calls tools in place of a screen."""
