"""Cards to print, one for each new account, and a sheet for the hall: one page, which has the accounts' secrets."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from salvo.badges import Badges
from salvo.wire.roles_and_rights import Role
from salvo_display.web_page import emblems, text_of
from salvo_display.web_page.qr import qr_code
from salvo_display.web_page.rendering import policy, render
from salvo_server.storage.roster import Member

#: Characters of a secret that stand together, so that who types it keeps the place.
_GROUP = 4


class Venue(NamedTuple):
    """What all cards say.

    Attributes:
        address: the broker's, as teams type it.
        fingerprint: of the server's key, which people compare (SALVO-IDENT-3).
        web: the web front's address, without a slash at its end; empty if there is none.
        evening: what the evening is called; empty where nobody has said it.
    """

    address: str
    fingerprint: str
    web: str = ""
    evening: str = ""


def cards_page(members: Sequence[Member], venue: Venue) -> str:
    """Return the page; with a web front, its first sheet is the hall's, which has no secret."""
    teams = [member for member in members if member.role is Role.TEAM]
    badges = Badges({team.name: team.badge for team in teams if team.badge is not None}).of(team.name for team in teams)
    style = text_of("static/badges.css") + text_of("cards.css", "salvo_server.host")
    return render(
        "salvo_server/host/cards.html.j2",
        style=style,
        policy=policy(style),
        badges=badges,
        emblems=emblems(badges.values()),
        members=members,
        venue=venue,
        typed=shlex.quote(venue.address),
        qr=qr_code,
        group=_GROUP,
    )
