"""The colours of boards: of marks, and of chances; distinguishable without seeing red or green."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from salvo_display.boards.marks import Mark

Colour = tuple[int, int, int]

_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)
#: Light to dark, the first, middle and last of ColorBrewer's Blues.
_SCALE: Final[tuple[Colour, ...]] = ((247, 251, 255), (107, 174, 214), (8, 48, 107))
#: By mark: Okabe and Ito's, except for water.
COLOURS: Final[Mapping[str, Colour]] = {
    Mark.BLANK: (232, 243, 250),
    Mark.SHIP: (90, 110, 130),
    Mark.HIT: (213, 94, 0),
    Mark.MISS: (217, 217, 217),
    Mark.FIRED: (240, 228, 66),
}


def shade(share: float) -> Colour:
    """Return the colour of a value, light for 0 and dark for 1."""
    step = min(max(share, 0.0), 1.0) * (len(_SCALE) - 1)
    first = min(int(step), len(_SCALE) - 2)
    red, green, blue = (
        round(low + (high - low) * (step - first)) for low, high in zip(_SCALE[first], _SCALE[first + 1], strict=True)
    )
    return red, green, blue


def luminance(colour: Colour) -> float:
    """Return how bright a colour is, 0..1 (WCAG 2.2, relative luminance)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink(colour: Colour) -> Colour:
    """Return black or white, whichever stands out more."""
    bright = luminance(colour) + 0.05
    return _BLACK if bright / 0.05 > 1.05 / bright else _WHITE


def css(colour: Colour) -> str:
    """Return a colour as style sheets write it, such as ``#d55e00``."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
