"""Tools for testing bots: boards as pictures, and a check of a whole bot.

``board`` and ``draw`` turn pictures into fleets and back; ``check_bot`` plays a bot on many seeds and lists
what is wrong with it.
"""

from salvo_lab.testing.boards import board, draw
from salvo_lab.testing.check import Report, check_bot

__all__ = ["Report", "board", "check_bot", "draw"]
