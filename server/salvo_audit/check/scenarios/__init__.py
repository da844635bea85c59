"""The scenarios: a short function each, which plays a game, or a part of one, on a stage."""

from salvo_audit.check.scenarios import absences, endings, joining, optional, players, reading, turns, whole

__all__ = ["absences", "endings", "joining", "optional", "players", "reading", "turns", "whole"]
