"""Tools for testing bots: boards as pictures, a check of a whole bot, a scripted server.

``board`` and ``draw`` turn pictures into fleets and back; ``check_bot`` plays a bot on many seeds and lists
what is wrong with it; ``ScriptedServer`` sends a session what a server would.
"""

from salvo_lab.testing.boards import board, draw
from salvo_lab.testing.check import Report, check_bot
from salvo_lab.testing.script import ScriptedServer

__all__ = ["Report", "ScriptedServer", "board", "check_bot", "draw"]
