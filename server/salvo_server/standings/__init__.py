"""Standings: who has how many points, and how good everybody is, from the results of games.

points_and_ratings  counts them, and meetings, game by game; tournaments of bots count by it, too
chronicle           the results of a contest, of an evening and over all
live                what a server publishes of them
from_logs           the same results from signed logs
page                an HTML page of them
"""
