"""What the page of a host shows of an evening, and what its commands for all tables are, without a broker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit.own_page import PORT, Clock, Opened, Visitor, run
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.published import read_published
from salvo.messages import HostAction, Phase
from salvo.rules import SALVO
from salvo_server.host.console.evening import ConsoleEvening, phase_line
from salvo_server.host.console.page import ConsolePage

CUP = m.EveningShown(
    by="desk",
    name="Cup",
    round=2,
    rounds=5,
    teams=4,
    left=2400,
    matches=(m.LeagueMatch(("ann", "bob"), "t1"), m.LeagueMatch(("cy", "dan"), "t2")),
    rows=tuple(m.LeagueStanding(1, name, 0, 0, 0) for name in ("ann", "bob", "cy", "dan")),
    phase=Phase.ROUND,
)
NO_LEAGUE = m.EveningShown(phase=Phase.FREE)
BREAK = replace(CUP, phase=Phase.BREAK, resumes=Phase.ROUND)


class Hall:
    """A line to a hall whose announcements a test makes, and the page of its host."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.error: Exception | None = None
        self.given: list[tuple[str, HostAction, dict[str, Any]]] = []
        self.page = ConsolePage(self, "desk", PORT, self.clock)
        self.evening.reached = True

    @property
    def evening(self) -> ConsoleEvening:
        return self.page.evening

    def take_in(self, evening: ConsoleEvening) -> bool:
        return True

    def give(self, table: str, do: HostAction, given: dict[str, Any]) -> None:
        self.given.append((table, do, given))

    def say(self, *announcements: m.Announcement, table: str = "", retained: bool = False) -> None:
        for announcement in announcements:
            for message in write_announcement(announcement, table):
                published = read_published(message.topic, message.payload)
                assert published is not None
                payload = message.payload != b""
                self.evening.receive(*published, payload=payload, retained=retained)

    def open(self, table: str = "", game: int = 7, *, online: bool = True) -> None:
        """Let a table be there, in its lobby; a further one's status names the topic of the first."""
        status = m.ServerStatus(online and not table, "1", game, "contest", "/game/server" if table else "")
        rules = m.RulesAnnounced(SALVO, table, 60, 30, 30, 3)
        self.say(status, rules, m.StateChanged(m.State.LOBBY), table=table)

    def enlist(self, table: str, *names: str, complete: tuple[str, ...] = ()) -> None:
        self.say(m.PlayersListed(names), table=table)
        for name in complete:
            self.say(*(m.PlacementJudged(name, ship.name, True) for ship in SALVO.fleet), table=table)

    def begin(self, table: str, *names: str, game: int = 7) -> None:
        self.enlist(table, *names, complete=names)
        self.say(m.StateChanged(m.State.TURN), table=table)
        self.turn(table, 1, names[0], game)

    def turn(self, table: str, turn: int, player: str, game: int = 7) -> None:
        self.say(m.TurnBegan(game, turn, player, 5, 1_000, 31_000), table=table)

    def resolve(self, table: str, turn: int, player: str, shots: int = 5, game: int = 7) -> None:
        self.say(m.SalvoResolved(game, turn, player, shots, 0, (), ()), table=table)

    def needs(self) -> list[str]:
        needs = self.evening.picture()["needs"]
        return [f"{need['table']}: {need['text']}" if need["table"] is not None else need["text"] for need in needs]

    def wait(self, seconds: float) -> list[str]:
        """Let time pass; return what needs the host then."""
        self.needs()
        self.clock.now += seconds
        return self.needs()

    def means(self, do: str, table: str) -> str:
        [offer] = [offer for offer in self.evening.tables[table].offers if offer.do == do]
        return offer.means

    def act(self, **command: Any) -> tuple[int, str]:
        """Send a command from the page; return the status and the code of the answer."""
        answers: list[tuple[int, str]] = []

        async def send(opened: Opened) -> None:
            await opened.visitor.enter()
            async with opened.visitor.tab() as picture:
                answer = await opened.visitor.do(await picture(), **command)
                answers.append((answer.status, answer.code))

        run(send(Opened(self.page, Visitor(self.page), self.clock, command)))
        return answers[0]

    def offered(self) -> list[str]:
        return [offer.label for offer in self.evening.offers]


@pytest.fixture
def hall() -> Hall:
    hall = Hall()
    hall.open()
    hall.open("t1")
    hall.open("t2")
    return hall


# --- what needs the host --------------------------------------------------------------------------------------------


def test_a_server_with_further_tables_is_there_until_its_own_status_says_otherwise(hall: Hall) -> None:
    """The story: with one further table the page always called the server offline."""
    assert hall.evening.trouble == ""
    hall.open(online=False)
    assert hall.evening.trouble.startswith("The server is offline.")
    assert hall.needs() == []
    hall.open()
    assert hall.evening.trouble == ""
    hall.say(m.ServerStatus(True, "1", 7, "contest", paused=True))
    assert "cannot write its journal" in hall.evening.trouble
    hall.evening.reached = False
    assert hall.evening.trouble.startswith("The broker does not answer.")


def test_a_table_without_its_server_needs_the_host_while_others_go_on(hall: Hall) -> None:
    status = m.ServerStatus(True, "1", 7, "contest", "/old/game/server")
    hall.say(m.ServerStatus(False, "1", 0, "contest"), table="old")
    hall.say(status, m.StateChanged(m.State.TURN), table="lost")
    assert (hall.evening.trouble, hall.needs()) == ("", ["lost: its server is offline"])


def test_a_quiet_evening_needs_nobody(hall: Hall) -> None:
    hall.say(CUP)
    hall.begin("t1", "ann", "bob")
    hall.begin("t2", "cy", "dan")
    assert hall.wait(10) == []
    hall.say(NO_LEAGUE)
    assert hall.wait(10) == []


def test_a_silent_league_needs_the_host_before_all_else(hall: Hall) -> None:
    hall.say(CUP)
    hall.begin("t1", "ann", "bob")
    hall.clock.now += 30
    hall.resolve("t1", 1, "ann", shots=0)
    hall.say(replace(CUP, silent=True))
    first, second = hall.needs()
    assert first == "Cup has not reported for 15 seconds: start salvo league again"
    assert second == "t1: ann: 1 turn in a row without a shot, its time ran out; 3 are a defeat"


def test_a_team_that_is_missing_from_its_match_or_late_with_its_ships_needs_the_host(hall: Hall) -> None:
    hall.say(CUP)
    hall.enlist("t1", "ann", "bob", complete=("ann",))
    hall.enlist("t2", "cy", complete=("cy",))
    assert hall.wait(10) == []
    expected = ["t1: bob has 0 of 5 ships placed", "t2: dan has not come to its match"]
    assert hall.wait(15) == expected
    since = [need["since"] for need in hall.evening.picture()["needs"]]
    assert hall.wait(15) == expected
    assert [need["since"] for need in hall.evening.picture()["needs"]] == since
    hall.enlist("t1", "ann", "bob", complete=("bob",))
    hall.say(replace(CUP, withdrawn=("dan",)))
    assert hall.needs() == []


def test_a_table_that_stands_needs_the_host_but_not_in_a_break(hall: Hall) -> None:
    hall.say(CUP)
    hall.begin("t1", "ann", "bob")
    hall.begin("t2", "cy", "dan")
    hall.resolve("t2", 1, "cy")
    assert hall.wait(31) == []
    assert hall.wait(20) == ["t1: the time of turn 1 is over, and nothing follows"]
    assert hall.wait(20)[1:] == ["t2: no turn follows the last result"]
    hall.say(BREAK)
    assert hall.needs() == []
    hall.say(CUP)
    hall.say(m.HostActed("desk", HostAction.PAUSE, paused=True), table="t1")
    assert hall.needs() == ["t1: is paused, though no break is on"]


# --- all tables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "line", "allowed"),
    [
        (m.EveningShown(), "before the first game", ["Good night"]),
        (
            replace(CUP, phase=Phase.ARRIVALS, round=0, matches=(), left=None),
            "Cup: before the first round",
            ["Start the round now", "End after this round"],
        ),
        (CUP, "Cup: round 2 of 5; all rounds: about 40 minutes left", ["End after this round"]),
        (BREAK, "break, in round 2 of 5 of Cup", ["End after this round"]),
        (
            replace(CUP, phase=Phase.BETWEEN, left=None),
            "Cup: round 2 of 5 is over, the next one follows",
            ["Start the round now", "End after this round"],
        ),
        (replace(CUP, phase=Phase.BETWEEN, began=3), "Cup: round 2 of 5 is over, the next one follows at once", None),
        (replace(CUP, last=2), "Cup: round 2 of 5, the last one", []),
        (
            replace(CUP, silent=True),
            "Cup: round 2 of 5; all rounds: about 40 minutes left",
            ["Open all tables", "Good night"],
        ),
        (
            replace(CUP, over=True, phase=Phase.FINAL),
            "Cup is over: podium until you decide",
            ["Open all tables", "Good night"],
        ),
        (NO_LEAGUE, "games without a league", ["Good night"]),
        (
            m.EveningShown(phase=Phase.OVER),
            "the evening is over: no game begins until you open all tables",
            ["Open all tables"],
        ),
    ],
)
def test_the_phase_is_shown_in_words_with_the_commands_that_it_allows(
    hall: Hall, shown: m.EveningShown, line: str, allowed: list[str] | None
) -> None:
    hall.say(shown)
    assert phase_line(shown) == hall.evening.picture()["phase"] == line
    [pause, *always], removal = hall.offered()[:3], hall.offered()[-1]
    assert (pause, always) == ("Resume all" if shown.phase is Phase.BREAK else "Pause all", ["Announce", "More time"])
    assert removal == "Take a team out"
    assert allowed is None or hall.offered()[3:-1] == allowed


def test_all_games_that_can_begin_are_started_at_once_where_no_league_runs(hall: Hall) -> None:
    hall.say(NO_LEAGUE)
    hall.enlist("t1", "ann", "bob", complete=("ann",))
    assert "Start all games" not in hall.offered()
    hall.enlist("t1", "ann", "bob", complete=("ann", "bob"))
    assert "Start all games" in hall.offered()


def test_a_command_for_all_tables_is_sent_at_the_first_one_if_the_phase_still_allows_it(hall: Hall) -> None:
    hall.say(CUP)
    [pause] = [offer for offer in hall.evening.offers if offer.do is HostAction.PAUSE]
    assert hall.act(everywhere=True, do="pause", means=pause.means) == (200, "")
    assert hall.given == [("", HostAction.PAUSE, {"everywhere": True})]
    hall = Hall()
    hall.open()
    hall.say(BREAK)
    assert hall.act(everywhere=True, do="pause", means=pause.means) == (409, "not_now")
    assert hall.given == []


def test_what_a_host_did_at_all_tables_is_one_line(hall: Hall) -> None:
    hall.say(m.HostActed("desk", HostAction.PAUSE, everywhere=True))
    for table in ("", "t1", "t2"):
        hall.say(m.HostActed("desk", HostAction.PAUSE, paused=True), table=table)
    hall.say(m.HostActed("desk", HostAction.SKIP), table="t1")
    assert list(hall.evening.lines) == ["host desk pauses everything", "table t1: host desk ends the turn"]


# --- one table ------------------------------------------------------------------------------------------------------


def test_the_sentence_of_a_command_stays_the_same_from_turn_to_turn(hall: Hall) -> None:
    hall.say(CUP)
    hall.begin("t1", "ann", "bob")
    read = [offer.means for offer in hall.evening.tables["t1"].offers]
    hall.resolve("t1", 1, "ann")
    hall.turn("t1", 2, "bob")
    assert [offer.means for offer in hall.evening.tables["t1"].offers] == read
    assert hall.means("remove", "t1").startswith("Take {team} out of game 7 ")
    assert hall.act(table="t1", do="skip", means=hall.means("skip", "t1")) == (200, "")


def test_a_command_is_refused_once_its_sentence_is_about_another_game(hall: Hall) -> None:
    hall.begin("t1", "ann", "bob")
    read = hall.means("abort", "t1")
    hall.open("t1", game=8)
    hall.begin("t1", "ann", "bob", game=8)
    assert hall.act(table="t1", do="abort", means=read) == (409, "late")
