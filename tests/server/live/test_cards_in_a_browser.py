"""Cards as a browser prints them: eight to a sheet, on A4 and on US Letter."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from kit.browser import browser
from kit.programs import needs
from salvo.wire.roles_and_rights import Role
from salvo_server.host.cards import Venue, cards_page
from salvo_server.storage.roster import Member

pytestmark = [needs("chromium"), pytest.mark.slow]

_VENUE = Venue(
    "mqtt://192.168.100.100:1883",
    "9d24 e2ee af27 c2a0",
    "http://192.168.100.100:8080",
    "The cup of forty letters, no more no less",
)
#: Width and height in inches.
_PAPER = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}


def _members(count: int) -> list[Member]:
    names = ["W" * 32, "The-crew-of-the-Potemkin_32-char", *(f"team-{number}" for number in range(count - 2))]
    return [Member(name, Role.TEAM, "", 4, f"m{'W_-l1I0O' * 2}abcdef"[:22]) for name in names]


@pytest.mark.parametrize("address", [_VENUE.address, f"mqtts://{'a-long-name.' * 6}example:18883"])
def test_no_line_of_a_command_ends_within_a_name(tmp_path: Path, address: str) -> None:
    names = [("a-b" * 11)[:length] for length in range(1, 33)]
    members = [
        Member(name, role, "", 4, "x" * 26)
        for role in (Role.TEAM, Role.WATCHER, Role.REFEREE, Role.HOST)
        for name in names
    ]
    file = tmp_path / "cards.html"
    file.write_text(cards_page(members, _VENUE._replace(address=address)))
    broken = """
        const broken = [];
        for (const card of document.querySelectorAll("article")) {
          const name = card.querySelector("h2 > span").textContent;
          const walker = document.createTreeWalker(card.querySelector("pre"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.search(new RegExp(`(?<=^|--team |://)${name}(?=$|@|\\n)`));
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + name.length);
            if (range.getClientRects().length > 1) broken.push(name);
            card.seen = true;
          }
          if (!card.seen) broken.push(`${name} is not there`);
          if (card.scrollWidth > card.clientWidth) broken.push(`${name} is too wide`);
        }
        return broken.join(" ");
    """
    with browser() as window:
        window.open(file.as_uri())
        assert window.run(broken) == ""


def test_eight_cards_are_on_a_sheet_and_the_halls_has_its_own(tmp_path: Path) -> None:
    file = tmp_path / "cards.html"
    with browser() as window:
        for count, sheets in ((8, 2), (9, 3)):
            file.write_text(cards_page(_members(count), _VENUE))
            window.open(file.as_uri())
            for paper, (width, height) in _PAPER.items():
                printed = window.tell("Page.printToPDF", paperWidth=width, paperHeight=height, preferCSSPageSize=False)
                pages = re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))
                assert len(pages) == sheets, (count, paper)
        window.tell("Emulation.setEmulatedMedia", media="print")
        assert window.run("return document.querySelector('.screen').checkVisibility()") is False
        # what a printer leaves out by default: without it an emblem is white on white
        assert window.run("return getComputedStyle(document.querySelector('.badge')).printColorAdjust") == "exact"
        too_wide = "[...document.querySelectorAll('article')].filter(card => card.scrollWidth > card.clientWidth)"
        assert window.run(f"return {too_wide}.length") == 0
        assert window.complaints() == []
