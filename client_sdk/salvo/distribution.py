"""What the distribution ``battleship-salvo`` is: its version, and its packages."""

from typing import Final

#: Kept equal to the distribution's version by a test.
__version__ = "0.1.0"
#: The packages of the distribution; any but this one may be left out.
PACKAGES: Final = (
    "salvo",
    "salvo_audit",
    "salvo_display",
    "salvo_gateways",
    "salvo_lab",
    "salvo_league",
    "salvo_server",
    "salvo_watch",
)
