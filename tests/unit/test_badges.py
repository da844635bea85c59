"""The teams' badges: the same for a name everywhere, drawn, and legible."""

from __future__ import annotations

import re
from importlib.resources import files

from salvo.lab.pictures.html import luminance
from salvo_server.spectate.page.badges import COLOURS, EMBLEMS, badge_of

_PAGE = files("salvo_server.spectate.page")
_STYLE, _SYMBOLS = (_PAGE.joinpath(f"badges.{kind}").read_text(encoding="utf-8") for kind in ("css", "svg"))


def test_a_name_has_the_same_badge_for_ever() -> None:
    assert [badge_of(name) for name in ("red", "blue", "", "\ud800")] == [(3, 9), (6, 1), (4, 4), (11, 0)]


def test_names_spread_over_all_badges() -> None:
    assert len({badge_of(f"team-{number}") for number in range(3000)}) == COLOURS * EMBLEMS


def test_every_emblem_is_drawn_once() -> None:
    assert re.findall(r'<symbol id="(\w+)"', _SYMBOLS) == [f"e{number}" for number in range(EMBLEMS)]


def test_every_colour_is_legible_in_the_light_and_in_the_dark() -> None:
    colours = re.findall(r"^\.c(\d+) .*light-dark\((#\w{6}), (#\w{6})\)", _STYLE, re.MULTILINE)
    assert [number for number, *_ in colours] == [str(number) for number in range(COLOURS)]
    for _, light, dark in colours:
        assert _contrast("#ffffff", light) >= 4.5
        assert _contrast(dark, "#1a242d") >= 4.5


def _contrast(bright: str, dull: str) -> float:
    high, low = (
        luminance((int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16))) for colour in (bright, dull)
    )
    return (high + 0.05) / (low + 0.05)
