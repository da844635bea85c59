"""Boards for people: their marks and colours, heat maps, and how they read on a terminal.

No information is in colour alone, and no module of this is imported before a board is shown.
"""

from salvo_display.boards.heat_map import HeatMap

__all__ = ["HeatMap"]
