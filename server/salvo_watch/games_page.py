"""The list of games as a page: a part of it with a form that a server answers, or all of it with a script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from salvo import messages as m
from salvo.badges import Badge, Badges
from salvo.rules import Grid
from salvo_display import replay_text
from salvo_display.web_page import emblems, house_style, text_of
from salvo_display.web_page.drawing import Luck
from salvo_display.web_page.rendering import policy, render
from salvo_server.storage.transcript_folder import DEFAULT_TABLE
from salvo_watch.archive import ArchiveEntry, Query

#: What the list is called.
TITLE: Final = "Games"
#: Games on a served page.
PAGE: Final = 50
#: Of a tie of many the table tells.
_MOST_ON_PODIUM: Final = 5


class Part(NamedTuple):
    """What a server shows of its games.

    Attributes:
        query: what was asked for.
        page: from 1.
        waiting: how many recordings are still to be read.
        badges: of the contest's teams.
    """

    query: Query
    page: int
    waiting: int
    badges: Badges | None = None


class Best(NamedTuple):
    """A game to see first.

    Attributes:
        href: leads to its moment.
        players: by place.
        words: what the winner did.
        whose: board is drawn, from ``paths``.
    """

    kind: str
    href: str
    players: Sequence[str]
    words: str
    whose: str
    paths: Mapping[str, str]
    grid: Grid


def served_list(listed: Sequence[ArchiveEntry], found: Sequence[ArchiveEntry], part: Part) -> tuple[str, str]:
    """Return a page of a server's games, and its policy; its links lead on from ``/games``.

    Args:
        listed: all games.
        found: those that were asked for.
    """
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(1, part.page), pages)
    style = house_style() + text_of("games_page.css", "salvo_watch")
    allowed = policy(style, forms="'self'")
    text = _page(
        found[(page - 1) * PAGE : page * PAGE],
        "games/{}",
        part.badges or Badges(),
        style=style,
        policy=allowed,
        title=TITLE,
        links=[("Watch", "./"), ("Tables", "tables"), ("Join", "sdk")],
        served=True,
        query=part.query,
        teams=sorted({name for entry in listed for name in entry.players}, key=str.casefold),
        tables=_tables(listed),
        count=len(found),
        in_all=len(listed),
        narrowed=part.query != Query(),
        waiting=part.waiting,
        page=page,
        pages=pages,
        earlier=_address(part.query, page - 1) if page > 1 else "",
        later=_address(part.query, page + 1) if page < pages else "",
        leagues=(),
        best=(),
        script="",
    )
    return text, allowed


def site_list(
    listed: Sequence[ArchiveEntry],
    badges: Badges | None = None,
    leagues: Sequence[m.EveningShown] = (),
    best: Sequence[Best] = (),
) -> str:
    """Return the first page of a site of games, which begins with the leagues that were played, the latest first."""
    badges = badges or Badges()
    style = house_style() + text_of("games_page.css", "salvo_watch")
    script = text_of("games_page.js", "salvo_watch")
    return _page(
        listed,
        "games/{}.html",
        badges,
        style=style,
        policy=policy(style, script),
        title=leagues[0].name if len(leagues) == 1 else TITLE,
        links=[],
        leagues=[
            (league, _podium(league), _rows(league), badges.of(row.team for row in league.rows)) for league in leagues
        ],
        best=[(one, badges.of(one.players)) for one in best],
        served=False,
        query=Query(),
        count=len(listed),
        narrowed=False,
        waiting=0,
        pages=1,
        script=script,
    )


def _podium(league: m.EveningShown) -> list[tuple[int, str, str]]:
    """Return the best three places of a league that is over, with points in words."""
    best = [row for row in league.rows if row.place <= 3][:_MOST_ON_PODIUM] if league.over else []
    return [(row.place, row.team, f"{_points(row)} points") for row in best]


def _rows(league: m.EveningShown) -> list[tuple[int, str, list[object]]]:
    return [(row.place, row.team, [_points(row), row.games, row.wins]) for row in league.rows]


def _points(row: m.LeagueStanding) -> str:
    return f"{round(row.points / 1000, 2):g}"


def note_page(
    title: str,
    text: str,
    links: Sequence[tuple[str, str]],
    *,
    refresh: bool = False,
    luck: Luck | None = None,
    badges: Mapping[str, Badge] | None = None,
) -> str:
    """Return a page of a few words, in the place of what is not there or not there yet.

    Args:
        refresh: whether a browser asks again by itself.
        luck: the page is about a game's, whose teams have these badges.
    """
    style = house_style()
    return render(
        "salvo_display/web_page/note.html.j2",
        style=style,
        policy=policy(style),
        title=title,
        text=text,
        links=links,
        refresh=refresh,
        luck=luck,
        badges=badges or {},
        emblems=emblems((badges or {}).values()),
    )


def _page(shown: Sequence[ArchiveEntry], href: str, badges: Badges, **given: object) -> str:
    days = [(day, [_line(entry, href, badges) for entry in games]) for day, games in groupby(shown, _day)]
    return render("salvo_watch/games_page.html.j2", emblems=text_of("badges.svg"), days=days, **given)


def _line(entry: ArchiveEntry, href: str, badges: Badges) -> dict[str, Any]:
    dated = bool(replay_text.when(entry.at))
    return {
        **entry._asdict(),
        "badges": badges.of(entry.players),
        "href": href.format(entry.id),
        "clock": f"{_time(entry):%H:%M}" if dated else "",
        "outcome": replay_text.outcome(entry.winners),
        "length": replay_text.length(entry.duration_ms) if dated else "",
    }


def _day(entry: ArchiveEntry) -> str:
    return f"{_time(entry):%A, %-d %B %Y}" if replay_text.when(entry.at) else "Without a date"


def _time(entry: ArchiveEntry) -> datetime:
    return datetime.fromtimestamp(entry.at / 1000, UTC)


def _tables(listed: Iterable[ArchiveEntry]) -> list[str]:
    return sorted({entry.table or DEFAULT_TABLE for entry in listed if not entry.trouble}, key=_numbers_by_size)


def _numbers_by_size(name: str) -> tuple[str, int, str]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name


def _address(query: Query, page: int) -> str:
    asked = {name: str(value) for name, value in query._asdict().items() if value}
    return "games?" + urlencode({**asked, "page": page})
