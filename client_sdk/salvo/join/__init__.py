"""Joining a contest: a team's connection, its session, its seat at a table, and what it checks."""
