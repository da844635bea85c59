"""The command league."""
