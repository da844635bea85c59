"""Pages of the programs as they are in the moments of an evening that leave the least room, each with real messages.

A moment of the hall is a broker on which these were published, with web fronts before it; a person's page and a host's
are served as their commands serve them; other pages are files as commands write them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from kit.browser import Browser, move_clock
from kit.own_page import Clock
from kit.results import result
from kit.waiting import until
from kit.web_front import WebFront, in_this_process
from salvo import messages as m
from salvo.badges import Badges
from salvo.bots.player import Bot
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import EVENING
from salvo.codec.header import Header
from salvo.messages import HostAction, Phase, State
from salvo.net.mqtt import Connection
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire.roles_and_rights import Role
from salvo_display import standings_page
from salvo_display.replay import REFEREE, Replay
from salvo_display.web_page import Setting, html_page
from salvo_display.web_server.own_page import OwnPage
from salvo_game.log import TableLog, is_public
from salvo_game.referee import Referee
from salvo_game.standings.chronicle import Standings
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.human import channel
from salvo_lab.human.browser.page import SittingPage
from salvo_lab.human.places.in_process import Human
from salvo_lab.human.sitting import Mode
from salvo_lab.recording import play_at_table
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.host.cards import Venue, cards_page
from salvo_server.host.console.line import HostLine
from salvo_server.host.console.needs import ARRIVAL_SECONDS
from salvo_server.host.console.page import ConsolePage
from salvo_server.screen_users import ScreenUsers
from salvo_server.spectators.referee_view import BoardSnapshots
from salvo_server.storage.identity import Identity
from salvo_server.storage.roster import Member
from salvo_watch.archive import Archive, transcript_of
from salvo_watch.site import make_site_of_games
from salvo_watch.web.app import Front, application
from salvo_watch.web.games import routes
from salvo_watch.web.relay import Relay, WatchedBroker

_SECONDS: Final = 120.0
_TURN_MS: Final = m.Limits().turn_ms
#: Of the longest and the widest letters that there are; they differ at the end.
LONGEST: Final = ("W" * 32, *(f"{'MW' * 15}{number:02}" for number in range(1, 32)))
SHORTEST: Final = tuple("abcdefghijklmnopqrstuvwxyz012345")
#: Of forty letters, in one word.
CUP: Final = "Weltmeisterschaftsqualifikationsturnier!"
WORDS: Final = (
    "The pizza is here, in the kitchen on the first floor; we go on at half past eight with round three of five."
)
#: What a hall's page says to other machines.
_HOST, _BROKER = "http://192.168.100.100:8080", "mqtt://192.168.100.100:1883"
_FRONT: Final = Front(_HOST, _BROKER)
#: Lists of news, whose oldest lines are hidden where there is no room.
LOGS: Final = "#feed-list, #chat-list, #news ol, #lines"


class Page(NamedTuple):
    """A page that is to be looked at.

    Attributes:
        name: what it is called in reports.
        show: opens it in a window of the size that it will be looked at in, and waits until it shows its moment.
        still: whether it is made not to scroll on a screen that is wide, so that all that is pressed is in sight.
        within: selector of what is in sight on every screen, however far one scrolls.
        roomy: whether another page of this moment has less room.
    """

    name: str
    show: Callable[[Browser], None]
    still: bool = False
    within: str = ""
    roomy: bool = False


# --- games ------------------------------------------------------------------------------------------------------------


@cache
def played(names: Sequence[str], seed: int = 7) -> tuple[Header, list[Step]]:
    """Return a game of bots that hunt."""
    _, header, steps = play_at_table({name: Hunter() for name in names}, seed=seed)
    return header, steps


def played_at(table_name: str, names: Sequence[str]) -> tuple[Header, list[Step]]:
    """Return a short game at a table: all know where the ships are, and miss as often as they hit."""
    table = Table(Referee("7", table_name, SALVO, m.Limits(players=len(names))), no_status)
    table.open()
    fleets = {name: random_fleet(SALVO, generator(name)) for name in names}
    inputs: list[m.Input] = [m.Participate(name, b"") for name in names]
    inputs += [m.PlaceShip(name, place.ship, place) for name, fleet in fleets.items() for place in fleet.placements]
    began = round(1000 * (time.time() - 600))
    header, steps = table.header, [table.carry_out(each, began + 1000 * at) for at, each in enumerate(inputs)]
    left = {}
    for name, fleet in fleets.items():
        ships = [cell for cell in range(SALVO.grid.size) if fleet.board[cell]]
        water = [cell for cell in range(SALVO.grid.size) if not fleet.board[cell]]
        left[name] = generator(name, "shots").sample(ships + water[: len(ships)], 2 * len(ships))
    while (current := table.referee.current) is not None:
        target = next(name for name in reversed(names) if name != current.name and left[name])
        shot = m.Fire(current.name, target, *SALVO.grid.xy(left[target].pop()))
        steps.append(table.carry_out(shot, began + 1000 * (len(steps) + 1)))
    return header, steps


def announced(header: Header, steps: Sequence[Step], part: float = 1.0) -> Iterator[m.Announcement]:
    """Yield what everybody is told of the first part of a game, and what a referee sees after every salvo.

    A part ends with the last ship that has sunk in it.
    """
    snapshots = BoardSnapshots(header)
    end = round(part * len(steps))
    if part < 1.0:
        sinks = (any(isinstance(each, m.SalvoResolved) and each.sunk for each in step.announcements) for step in steps)
        end = max(
            (number for number, sinks_one in enumerate(sinks, start=1) if sinks_one and number <= end), default=end
        )
    for step in islice(steps, end):
        yield from filter(is_public, step.announcements)
        yield from snapshots.follow(step)


def opened(players: int | None = None, game: int = 1) -> list[m.Announcement]:
    """Return what a table says before anybody is there."""
    status = m.ServerStatus(True, "1", game, "contest", players=players)
    rules = m.RulesAnnounced(SALVO, "", 3600, 3600, 3600, 3)
    return [status, rules, m.PlayersListed(()), m.StateChanged(State.LOBBY)]


# --- an evening -------------------------------------------------------------------------------------------------------


def league(names: Sequence[str], phase: Phase, round_: int = 2, name: str = CUP, **more: object) -> m.EveningShown:
    """Return how a league of these teams stands; four play at each table."""
    tables = [tuple(names[first : first + 4]) for first in range(0, len(names), 4)]
    done = phase in (Phase.BETWEEN, Phase.FINAL)
    matches = [
        m.LeagueMatch(teams, None if done else f"t{number}", (2, 1, 3, 4)[: len(teams)] if done and teams[1:] else ())
        for number, teams in enumerate(tables, start=1)
    ]
    earlier = max(0, round_ - 1)
    points = {team: 1000 * earlier * (len(names) - 1 - at) // max(1, len(names) - 1) for at, team in enumerate(names)}
    wins = {team: points[team] * earlier // max(1, 1000 * earlier) for team in names}
    for match in matches if done else ():
        for team, place in zip(match.teams, match.places or (1,), strict=True):  # a bye is won
            points[team] += 1000 * (len(match.teams) + 1 - place) // len(match.teams)
            wins[team] += place == 1
    order = sorted(names, key=lambda team: -points[team])
    rows = [
        m.LeagueStanding(
            1 + sum(points[other] > points[team] for other in names), team, points[team], earlier + done, wins[team]
        )
        for team in order
    ]
    shown = m.EveningShown(
        "desk",
        name,
        round_,
        5,
        phase is Phase.FINAL,
        len(names),
        None if phase is Phase.FINAL else 1500,
        tuple(matches) if round_ else (),
        tuple(rows),
        phase=phase,
        at=round(1000 * (time.time() - 300)),
        badges={team: badge.number for team, badge in Badges().of(names).items()},
    )
    return replace(shown, **more)  # type: ignore[arg-type]


def standings(names: Sequence[str]) -> Standings:
    """Return the standings after some games, each of four of these teams."""
    counted = Standings()
    for number in range(3 * len(names)):
        first = names[number % (1 + 7 * number % len(names))]  # those that are listed first win more often
        second = next(name for name in (*names[number % len(names) :], *names) if name != first)
        players = (m.PlayerStats(first, 61, 17, 5, 5, 1), m.PlayerStats(second, 58, 9 + number % 7, 2, 5, 2))
        counted.add(result(number, first, second, table="t1")._replace(players=players))
    return counted


class Room:
    """A broker, and whoever speaks on it."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self.broker = stack.enter_context(EmbeddedBroker())

    def say(self, *announcements: m.Announcement, table: str = "") -> None:
        """Publish announcements, but for those that have no publication of their own."""
        with contextlib.closing(Connection(self.broker.url, "speaker", clean_session=True)) as speaker:
            speaker.connect(_SECONDS)
            for announcement in announcements:
                if not isinstance(announcement, (m.TableOpened, m.TableReset, m.PlayerLeft)):
                    for topic, payload, retained in write_announcement(announcement, table):
                        speaker.publish(topic, payload, retain=retained)
            assert speaker.flush(_SECONDS)

    def on(self, teams: Sequence[str], table: str) -> None:
        """Publish a game of these teams that has been going on for a while, with its log."""
        header, steps = played(tuple(teams))
        self.say(*opened(), *announced(header, steps, part=0.7), table=table)
        self.log(replace(header, rules=replace(header.rules, table=table)), steps[: round(0.5 * len(steps))])

    def log(self, header: Header, steps: Sequence[Step]) -> None:
        """Publish the signed log of a game at its table."""
        log = TableLog(header, Identity(bytes(32)))
        with contextlib.closing(Connection(self.broker.url, "signer", clean_session=True)) as signer:
            signer.connect(_SECONDS)
            for published in [*log.opening(), *(part for step in steps for part in log.take_in(step))]:
                signer.publish(published.topic, published.payload)
            assert signer.flush(_SECONDS)

    def front(self, *, boards: bool = False, games: Path | None = None) -> WebFront:
        """Begin to serve the pages of the hall, as ``salvo web`` does; return when the broker is reached."""
        connection = Connection(self.broker.url, f"front-{boards}", clean_session=True)
        relay = Relay([WatchedBroker("", connection, ScreenUsers(None, Random(1)))], boards=boards)
        archive = Archive([games] if games else [])
        archive.look(None)
        app = application(relay, _FRONT, routes(archive, relay.badges, relay.withholds))
        front = WebFront(f"http://127.0.0.1:{self._stack.enter_context(in_this_process(app, relay=relay))}/")
        until(lambda: relay.reached)
        return front

    def host(self, tables: int) -> Callable[[Browser], None]:
        """Serve the page of a host, as ``salvo control --browser`` does, so late that who is missing is reported."""
        line, clock = HostLine(self.broker.url, "desk", "", None), Clock()
        self._stack.enter_context(line.open())

        def page(port: int) -> ConsolePage:
            page = ConsolePage(line, f"desk at {_BROKER}", port, clock)

            def known() -> bool:
                page.look()
                return len(page.picture()["tables"]) == tables and bool(page.picture()["league"])

            until(known)
            clock.now += ARRIVAL_SECONDS + 1.0  # while its key still opens it
            page.look()
            return page

        opens = own(self._stack, page, f"document.querySelectorAll('#tables > section').length === {tables}")

        def show(window: Browser) -> None:
            opens(window)
            window.click("#everywhere [data-word=remove]")  # whose order has the most to say
            window.wait_for("document.getElementById('order').checkVisibility()")

        return show


def own(stack: contextlib.ExitStack, make: Callable[[int], OwnPage], shows: str) -> Callable[[Browser], None]:
    """Serve a page of one person; return what opens it, and waits until it shows something."""
    made: list[ASGIApp] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await made[0](scope, receive, send)

    port = stack.enter_context(in_this_process(app))
    page = make(port)
    made.append(page.application())
    return at(f"http://127.0.0.1:{port}/#{page.key}", shows)


def at(address: str, shows: str = "document.body.innerText.length > 20") -> Callable[[Browser], None]:
    """Return what opens an address, and waits until it shows something."""

    def show(window: Browser) -> None:
        window.open(address)
        window.wait_for(f"document.readyState === 'complete' && ({shows})")

    return show


# --- moments of the hall ----------------------------------------------------------------------------------------------

_CARD: Final = "document.querySelector('#games .card li')"
_PODIUM: Final = "document.querySelector('#end.podium:not([hidden])')"


def says(words: str) -> str:
    """Return the condition that a page has these words, also where they are not seen."""
    return f"document.body.textContent.includes({words!r})"


def crowd(stack: contextlib.ExitStack, names: Sequence[str], part: float = 0.6) -> list[Page]:
    """A game at one table, and all boards of it, with chances, news, chat and the standings of the evening."""
    room = Room(stack)
    boards, public = room.front(boards=True), room.front()
    header, steps = played(tuple(names))
    room.say(*opened(len(names)), *announced(header, steps, part))
    table = standings(names).shown()
    room.say(m.StandingsShown(table, table))
    room.say(*(m.ChatPublished(name, WORDS) for name in names[:4]))
    shows = f"document.querySelectorAll('.tile').length >= 2 && {says(WORDS)}"
    return [
        Page("hall", at(boards.url, f"{shows} && !document.getElementById('chances').hidden")),
        Page("hall without boards", at(public.url, shows), roomy=True),
        Page("tables", at(f"{public.url}tables", "document.querySelectorAll('.card li').length >= 2"), roomy=True),
    ]


def over(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """The end of a game, as it comes: its card."""
    room = Room(stack)
    front = room.front(boards=True)
    header, steps = played(tuple(names))
    last = max(number for number, step in enumerate(steps) if step_ends(step))

    def show(window: Browser) -> None:
        said = list(announced(header, steps[:last]))
        room.say(*opened(len(names)), *said)
        at(front.url, "document.querySelectorAll('.tile').length >= 2")(window)
        snapshots = BoardSnapshots(header)
        for step in steps[: last + 1]:
            views = list(snapshots.follow(step))
        room.say(*filter(is_public, steps[last].announcements), *views)
        window.wait_for("document.querySelector('#end.verdict:not([hidden])')")

    return [Page("hall", show)]


def step_ends(step: Step) -> bool:
    """Whether a game ends with a step."""
    return any(isinstance(each, m.GameWon) for each in step.announcements)


def ceremony(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """The end of a league, as it comes, and the page of who comes later."""
    room = Room(stack)
    front = room.front()

    def show(window: Browser) -> None:
        room.say(*opened(), league(names, Phase.ROUND, 5))
        at(front.url, f"{_CARD} && {says('Round 5')}")(window)
        room.say(league(names, Phase.FINAL, 5))
        window.wait_for(_PODIUM)

    return [Page("hall", show)]


def final(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """The final table of a league."""
    room = Room(stack)
    front = room.front()
    room.say(*opened(), league(names, Phase.FINAL, 5))
    return [Page("hall", at(front.url, _PODIUM))]


def between(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """The results of a round, before the next one."""
    room = Room(stack)
    front = room.front()
    room.say(*opened(), league(names, Phase.BETWEEN))
    return [Page("hall", at(front.url, f"{_CARD} && {says(CUP)}"))]


def arrivals(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """Teams come to a league; a third of them are missing."""
    room = Room(stack)
    front = room.front()
    here = names[: len(names) - len(names) // 3]
    room.say(*opened(), m.PlayersListed(tuple(here)))
    begins = round(1000 * (time.time() + 3599))
    room.say(league(here, Phase.ARRIVALS, 0, missing=tuple(names[len(here) :]), begins=begins))
    return [
        Page("hall", at(front.url, f"document.querySelectorAll('#roster li').length === {len(names)}")),
        Page("sdk", at(f"{front.url}sdk")),
    ]


def lobby(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """Teams come to a table without a league, and one place is free."""
    room = Room(stack)
    front = room.front()
    room.say(*opened(len(names) + 1), m.PlayersListed(tuple(names)))
    return [Page("hall", at(front.url, says(names[-1])))]


def pause(stack: contextlib.ExitStack, names: Sequence[str]) -> list[Page]:
    """A break in a round, with the words of a host."""
    room = Room(stack)
    front = room.front()
    acted = m.HostActed("desk", HostAction.PAUSE, everywhere=True, paused=True)
    room.say(*opened(), league(names, Phase.BREAK, resumes=Phase.ROUND), acted)
    room.say(m.HostActed("desk", HostAction.ANNOUNCE, text=WORDS, everywhere=True, paused=True))
    for match in league(names, Phase.ROUND).matches:
        if len(match.teams) > 1:
            room.on(match.teams, match.table or "")
    return [Page("hall", at(front.url, f"{says('Break')} && {says(WORDS)}"))]


def a_round(stack: contextlib.ExitStack, names: Sequence[str], games: Path | None = None) -> list[Page]:
    """A round of a league, in which four play at every table: the hall, a team's page, all tables, and the host's.

    The hall shows the tape of a game of the round before, for more than a minute.
    """
    room = Room(stack)
    front = room.front(games=games)
    room.say(*opened(), league(names, Phase.ROUND))
    room.log(*played_at("t1", names[-4:]))
    matches = [match.teams for match in league(names, Phase.ROUND).matches if len(match.teams) > 1]
    for number, teams in enumerate(matches, start=1):
        room.on(teams, f"t{number}")
    own_page = f"{front.url}?team={names[0]}"

    def show(window: Browser) -> None:
        at(front.url, f"document.querySelector('.board') && {says(CUP)}")(window)
        room.say(league(names, Phase.ROUND, 3))
        window.wait_for(says("Round 3 of 5"))

    def show_late(window: Browser) -> None:
        at(own_page, f"document.querySelector('.tile') && {says(names[0] + ', ')}")(window)
        move_clock(window, steady_ms=_TURN_MS)
        window.wait_for(says("time is up, the turn ends"))  # which leaves the headline less room than before

    return [
        Page("hall", show),
        Page("team", show_late),
        Page(
            "tables", at(f"{front.url}tables", f"document.querySelectorAll('.card li').length >= {min(4, len(names))}")
        ),
        Page("host", room.host(1 + len(matches))),
    ]


# --- a person's page --------------------------------------------------------------------------------------------------


def person(stack: contextlib.ExitStack, names: Sequence[str], salvos: int = 12) -> list[Page]:
    """The page of who plays against bots, before, in, and after a game; its clock does not run."""
    pages = []
    for name, turns in (("player sets up", -1), ("player", salvos), ("player at the end", 1000)):
        desk = channel.Channel()
        desk.chat = True
        bots: dict[str, Bot] = {names[0]: Human(desk), **{rival: Hunter() for rival in names[1:]}}
        stack.enter_context(_game(desk, bots))

        def page(port: int, desk: channel.Channel = desk, turns: int = turns) -> SittingPage:
            page = SittingPage(desk, port, Clock())
            _play(page, turns)
            desk.show(channel.Clock(names[0], None))
            for rival in names[1:]:
                desk.show(channel.Notice(f"{rival} says: {WORDS}"))
            page.look()
            return page

        shows = own(stack, page, "document.querySelector('#own [data-cell]')")
        pages.append(Page(name, shows, still=turns == salvos, within="#actions button", roomy=turns < 0))
    return pages


@contextlib.contextmanager
def _game(desk: channel.Channel, bots: Mapping[str, Bot]) -> Iterator[None]:
    """Play a game on a thread of its own."""

    def play() -> None:
        outcome = arena.play(bots, seed=7)
        desk.show(channel.GameOver(1, outcome.winner, outcome.places, outcome.fleets, True))
        desk.wait(channel.Again)

    with channel.game_thread(desk, play) as thread:
        thread.start()
        yield


def _play(page: SittingPage, turns: int) -> None:
    """Do what a person does: place ships at random, then fire at one square after the other, for so many turns."""
    sitting = page.sitting

    def comes(*modes: Mode) -> bool:
        page.look()
        return sitting.mode in modes and (sitting.mode is not Mode.SHOOT or sitting.sight is not None)

    until(lambda: comes(Mode.SETUP))
    if turns < 0:
        return
    sitting.act("random")
    sitting.act("done")
    cells = {name: iter(range(SALVO.grid.size)) for name in _rivals(page)}
    for _ in range(turns):
        until(lambda: comes(Mode.SHOOT, Mode.END))
        if sitting.mode is Mode.END:
            return
        cells = {name: cells.get(name, iter(range(SALVO.grid.size))) for name in _rivals(page)}
        assert sitting.sight is not None
        for _ in range(sitting.sight.shots):
            sitting.click(sitting.target, next(cells[sitting.target]), fires=False)
        sitting.act("fire")
    until(lambda: comes(Mode.SHOOT, Mode.END))
    if sitting.mode is Mode.SHOOT and sitting.sight is not None:
        for _ in range(sitting.sight.shots - 1):
            sitting.click(sitting.target, next(cells[sitting.target]), fires=False)


def _rivals(page: SittingPage) -> list[str]:
    sight = page.sitting.sight
    return [] if sight is None else [name for name in sight.players if name != sight.me]


# --- pages that are files ---------------------------------------------------------------------------------------------


def written(folder: Path, name: str, text: str) -> Callable[[Browser], None]:
    """Write a page; return what opens it."""
    file = folder / f"{name}.html"
    file.write_text(text, encoding="utf-8")
    return at(file.as_uri())


def replays(folder: Path, names: Sequence[str]) -> list[Page]:
    """The replay of a game, for who sees all boards: in its middle and at its end, and for one player."""
    replay = Replay("test", *played(tuple(names)))
    half, setting = (
        replay.turns // 2,
        Setting([("Games", "../index.html"), ("Game before", "1.html")], checked="checked"),
    )
    return [
        Page("replay", written(folder, "half", html_page(replay, REFEREE, half, setting))),
        Page("replay at the end", written(folder, "end", html_page(replay, REFEREE, replay.turns, setting))),
        Page("replay of a player", written(folder, "own", html_page(replay, names[0], half, setting)), roomy=True),
    ]


def tables_of_results(folder: Path, names: Sequence[str]) -> list[Page]:
    """The standings of an evening."""
    return [Page("standings", written(folder, "standings", standings_page.page(standings(names), CUP)))]


def transcripts(folder: Path, names: Sequence[str], games: int = 3) -> Path:
    """Write some games of four teams each, and the league that they were of; return their folder."""
    place = folder / "games"
    place.mkdir()
    for number in range(games):
        teams = tuple(names[(4 * number + seat) % len(names)] for seat in range(min(4, len(names))))
        replay = Replay("test", *played(teams, seed=number))
        (place / f"game-{number + 1}.jsonl.gz").write_bytes(transcript_of(replay))
    (place / "evening.json").write_bytes(EVENING.write(league(names, Phase.FINAL, 5)))
    return place


def site(stack: contextlib.ExitStack, folder: Path, names: Sequence[str]) -> list[Page]:
    """The front page of an evening's games as ``salvo site`` writes it, and the list that a front serves."""
    games = transcripts(folder, names)
    archive = Archive([games])
    archive.look(None)
    make_site_of_games(archive, folder / "site")
    served = Room(stack).front(games=games)
    return [
        Page("site", at((folder / "site" / "index.html").as_uri())),
        Page("games", at(f"{served.url}games")),
    ]


def cards(folder: Path, names: Sequence[str]) -> list[Page]:
    """Cards to print, as a screen shows them."""
    members = [Member(name, Role.TEAM, "", 4, "m0l1I-O_" * 2) for name in names]
    venue = Venue(_BROKER, "9d24 e2ee af27 c2a0", _HOST, CUP)
    return [Page("cards", written(folder, "cards", cards_page(members, venue)))]
