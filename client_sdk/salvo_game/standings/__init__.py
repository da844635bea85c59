"""Standings: who has how many points, and how good everybody is, from the results of games.

points_and_ratings  counts them, and meetings, game by game; tournaments of bots count by it, too
chronicle           the results of a contest, of an evening and over all
from_logs           the same results from signed logs
"""
