"""Where the texts and the buttons of a page stand in a real browser, and what is wrong with that.

A page is looked at as it is. What is wrong:

cut           a text that a box around it cuts off; our own names may be cut in their middle (``sayName`` of dom.js)
short         of such a name fewer than its first two letters and its ending are left
hidden        a text that is outside of the box that cuts it, but for the oldest lines of news
covered       a text with something before it; under something translucent, too
overlap       two texts at one place
leaves        a text beyond the sides of the window, or below a page that does not scroll
scrolls       a page that is wider than the window, or higher where it is made not to scroll
low           what can be pressed is less than 40 pixels high; a square of a board and the row of a long table have 24,
              since a board or hundred turns are taken in at a glance only where they are dense; a link among words has
              its line
unreachable   what can be pressed is cut, covered, or below a page that is made not to scroll
faint         a text with less contrast than 4.5, or 3 if it is large (WCAG 2.2); texts on pictures are not judged
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from kit.browser import Browser

_LOOK: Final = Path(__file__).with_suffix(".js")


class Screen(NamedTuple):
    """A window of so many CSS pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


PHONE, LAPTOP = Screen(390, 660), Screen(1280, 720)
SCREENS: Final = (PHONE, LAPTOP, Screen(768, 1024), Screen(1366, 650), Screen(1920, 1080))


def settled(window: Browser) -> None:
    """Wait until a page has drawn what it knows, with its letters and pictures, and nothing moves."""
    window.run_async("""
        const done = arguments[0], frame = () => new Promise(requestAnimationFrame);
        const isEnding = (each) => each.playState === "running" && each.effect.getComputedTiming().endTime < Infinity;
        const ends = () => document.getAnimations().filter(isEnding);
        const pictures = [...document.images].filter((each) => !each.complete && each.loading !== "lazy");
        const loaded = pictures.map((each) => new Promise((go) => (each.onload = each.onerror = go)));
        (async () => {
          await Promise.all([document.fonts.ready, ...loaded]);
          for (let count = 0; count < 3; count += 1) await frame();
          await Promise.allSettled(ends().map((each) => each.finished));
          await frame();
        })().then(done);""")


def look(window: Browser, *, still: bool = False, within: str = "", logs: str = "") -> list[str]:
    """Return what is wrong with a page as it is, "what, where" each, those of one kind at one place in one line.

    Args:
        still: whether it is made not to scroll, and all that can be pressed is in sight.
        within: selector of what can be pressed and is in sight on a page that scrolls, too.
        logs: selector of lists whose oldest lines may be hidden.
    """
    script = f"const asked = arguments[0];\n{_LOOK.read_text(encoding='utf-8')}"
    found: list[dict[str, Any]] = window.run(
        script, {"still": still, "within": within or "none", "logs": logs or "none"}
    )
    counts = Counter((each["what"], each["where"]) for each in found)
    first = {(each["what"], each["where"]): each["words"] for each in reversed(found)}
    return [
        f"{what}, {where}{f' ({counts[what, where]} of them)' if counts[what, where] > 1 else ''}: {words}"
        for (what, where), words in reversed(first.items())
    ]
