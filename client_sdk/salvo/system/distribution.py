"""What the distribution ``battleship-salvo`` is: its version, where it is, and its packages."""

from pathlib import Path
from typing import Final

NAME: Final = "battleship-salvo"
#: Kept equal to the distribution's version by a test.
__version__ = "1.0.0"
#: The folder from which it is imported: what is installed, or a clone.
HOME: Final = Path(__file__).parents[2]
#: The packages of the distribution, from below; those from salvo_watch on may be left out.
PACKAGES: Final = (
    "salvo",
    "salvo_game",
    "salvo_display",
    "salvo_lab",
    "salvo_server",
    "salvo_watch",
    "salvo_league",
    "salvo_gateways",
    "salvo_audit",
)
