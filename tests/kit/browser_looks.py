"""What a browser shows: colours, and how they stand out."""

from __future__ import annotations

from kit.browser import Browser
from salvo_display.boards.notebook_html import Colour, luminance


def colour(window: Browser, selector: str, what: str) -> Colour:
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]].match(/[0-9.]+/g)"
    red, green, blue = (int(part) for part in window.run(script, selector, what)[:3])
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """Return how much two colours differ, 1..21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
