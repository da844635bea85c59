"""The command of a team in a contest."""
