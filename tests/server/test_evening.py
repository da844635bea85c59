"""What is on: a league's reports, a host's commands for all tables, and a restart (SALVO-EVENING)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.stage import Stage, secret
from salvo import messages as m
from salvo.codec.announcements import EVENING, LEAGUE, MAX_REPORT_BYTES
from salvo.codec.command_writer import write_host
from salvo.messages import HostAction, Phase, State
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer
from salvo_game.lobby import Lobby
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.core.evening import SILENT_MS
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.register import Account, Register

TEAMS = ("ann", "bob")
DESK = Sealer(secret("desk"), b"desk............")
ROWS = (m.LeagueStanding(1, "ann", 0, 0, 0),)
CUP = m.LeagueShown("desk", "cup", 1, 3, matches=(m.LeagueMatch(TEAMS, "t1"),), rows=ROWS)
PLAYED = replace(CUP, matches=(m.LeagueMatch(TEAMS, None, (1, 2)),))
ENDED = replace(PLAYED, round=3, over=True)


class Contest(Stage):
    """A server with three tables and a host."""

    def __init__(self, **given: Any) -> None:
        hosts = [Account(name, name, Role.HOST, secret(name)) for name in ("desk", "boss")]
        register = Register([*_accounts(*TEAMS, "cy"), *hosts])
        super().__init__(TEAMS, register=register, tables=("", "t1", "t2"), **{"play": False} | given)

    def report(self, league: m.LeagueShown) -> None:
        self.say(topics.LEAGUE_REPORT.of(), LEAGUE.write(league))

    def order(self, do: HostAction, **given: Any) -> None:
        self.say(topics.HOST.of(), write_host(m.HostCommand("desk", do, everywhere=True, **given), DESK))

    def open(self, settings: m.NextGame) -> None:
        """Open a lobby for a game that is set."""
        for command in (
            m.HostCommand("desk", HostAction.SET, settings=settings),
            m.HostCommand("desk", HostAction.NEXT),
        ):
            self.say(topics.HOST.of(), write_host(command, DESK))

    @property
    def evening(self) -> m.EveningShown:
        return EVENING.read(self.edge.retained["/game/league"])

    @property
    def phase(self) -> Phase:
        return self.evening.phase

    def referees(self) -> list[Any]:
        return [table.referee for table in self.service.tables.values()]


@pytest.fixture
def contest() -> Contest:
    return Contest()


# --- without a league -------------------------------------------------------------------------------------------------


def test_an_evening_without_a_league_has_arrivals_games_and_a_good_night(contest: Contest) -> None:
    assert json.loads(contest.edge.retained["/game/league"])["phase"] == "arrivals"
    contest.place(TEAMS)
    assert contest.phase is Phase.FREE
    contest.order(HostAction.FINISH)
    assert (contest.phase, contest.referee.state) == (Phase.OVER, State.TURN)
    contest.order(HostAction.ABORT)
    contest.wait(61)
    assert contest.referee.limits.held
    contest.hush()
    contest.order(HostAction.FINISH)
    assert contest.codes() == ["wrong_state"]
    contest.order(HostAction.NEXT)
    assert contest.phase is Phase.FREE
    assert not any(referee.limits.held for referee in contest.referees())


#: A match of two teams with the place of one.
SHORT = LEAGUE.write(PLAYED).replace(b"[1,2]", b"[1]")


# --- a league -----------------------------------------------------------------------------------------------------


def test_a_league_takes_the_evening_through_its_phases_to_a_podium_that_stays(contest: Contest) -> None:
    phases = []
    for league in (replace(CUP, round=0, matches=()), CUP, PLAYED, replace(CUP, round=2), ENDED):
        contest.report(league)
        phases.append(contest.phase)
    assert phases == ["arrivals", "round", "between", "round", "final"]
    contest.wait(3600)
    assert (contest.phase, contest.evening.rows) == (Phase.FINAL, CUP.rows)
    contest.order(HostAction.NEXT)
    assert (contest.phase, contest.evening.name) == (Phase.FREE, "")
    contest.report(ENDED)
    assert contest.phase is Phase.FREE, "a league that is over is not begun by being started again"


def test_no_game_begins_at_a_table_that_a_league_has_not_opened(contest: Contest) -> None:
    contest.report(CUP)
    assert all(referee.limits.held for referee in contest.referees())
    for name in TEAMS:
        contest.join(name)
    with pytest.raises(AssertionError):
        contest.place(TEAMS)
    assert isinstance(contest.referee.stage, Lobby)
    assert len(contest.referee.stage.complete) == 2
    contest.wait(7200)
    assert contest.referee.state is State.LOBBY
    assert json.loads(contest.edge.retained["/game/rules"])["placement_seconds"] == 86_400


def test_a_match_begins_with_the_last_fleet_at_a_table_that_a_league_has_opened(contest: Contest) -> None:
    """It waited for its placement time to pass."""
    contest.report(CUP)
    contest.open(m.NextGame(placement_seconds=30, teams=TEAMS))
    assert json.loads(contest.edge.retained["/game/rules"])["placement_seconds"] == 30
    for name in TEAMS:
        contest.join(name)
    contest.place(TEAMS)
    assert contest.referee.state is State.TURN
    contest.order(HostAction.ABORT)
    contest.wait(300)
    [hall, *_] = contest.referees()
    assert hall.state is State.LOBBY
    assert hall.limits.held, "what a host sets holds for one game"


def test_tables_that_a_league_has_left_in_a_lobby_of_its_teams_are_opened_for_all(contest: Contest) -> None:
    contest.report(CUP)
    contest.open(m.NextGame(teams=TEAMS))
    contest.wait(SILENT_MS / 1000)
    contest.order(HostAction.NEXT)
    assert [(referee.limits.teams, referee.limits.held) for referee in contest.referees()] == [(None, False)] * 3


def test_a_league_that_is_silent_is_called_so_and_goes_on_with_its_next_report(contest: Contest) -> None:
    contest.report(CUP)
    contest.wait(SILENT_MS / 1000 - 1)
    assert not contest.evening.silent
    contest.wait(1)
    assert (contest.evening.silent, contest.phase) == (True, Phase.ROUND)
    contest.report(CUP)
    assert not contest.evening.silent


def test_a_second_league_is_refused_and_changes_nothing(contest: Contest) -> None:
    contest.report(CUP)
    shown = contest.evening
    contest.hush()
    contest.report(replace(CUP, by="boss", name="other"))
    assert (contest.evening, contest.codes()) == (shown, ["wrong_state"])
    contest.hush()
    contest.report(replace(CUP, by="mallory", name="other"))
    assert (contest.evening, contest.codes()) == (shown, [])


@pytest.mark.parametrize(
    "payload", [b"", b"{}", b'{"name":3}', b"[" * 1000, b'{"name":"cup","round":-1}', b'{"by":"desk"}', SHORT]
)
def test_a_report_that_cannot_be_read_changes_nothing(contest: Contest, payload: bytes) -> None:
    shown = contest.edge.retained["/game/league"]
    contest.say(topics.LEAGUE_REPORT.of(), payload)
    assert contest.edge.retained["/game/league"] == shown


def grown(league: m.LeagueShown, length: int) -> m.LeagueShown:
    """Return a report of so many bytes, with a team of a long name."""
    name = ""
    while (missing := length - len(LEAGUE.write(grown := replace(league, matches=(m.LeagueMatch((name,)),))))) > 0:
        name += "x" * missing
    return grown


@pytest.mark.parametrize("told", ["desk", None], ids=["a broker that reports senders", "another broker"])
def test_a_report_of_more_than_11264_bytes_is_refused_and_changes_nothing(
    told: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    contest = Contest(journal=DatabaseJournal(str(tmp_path / "a.journal")))
    contest.report(CUP)
    before = contest.edge.retained["/game/league"]
    contest.hush()
    for length in (MAX_REPORT_BYTES + 1, 60_000, 70_000):
        report = LEAGUE.write(grown(CUP, length))
        contest.publish(Inbound(topics.LEAGUE_REPORT.of(), report, False, 1, 1, team=told))
        assert contest.edge.retained["/game/league"] == before
    refused = [text.decode() for topic, text in contest.received if topic == "/players/desk/error"]
    text = "too_large: 60000 bytes; at most 11264 are read"
    assert text in caplog.text
    assert (len(refused), text in refused) == ((3, True) if told else (0, False))
    contest.service.journal.close()
    again = Contest(journal=DatabaseJournal(str(tmp_path / "a.journal")), resume="always")
    assert again.edge.retained["/game/league"] == before
    again.service.journal.close()


def test_the_largest_report_with_all_badges_fits_into_a_packet_of_the_embedded_broker(contest: Contest) -> None:
    contest.service.play.evening.list_teams([f"{number:032}" for number in range(62)], 0)
    contest.report(grown(CUP, MAX_REPORT_BYTES))
    assert len(contest.evening.badges) == 64
    assert len(contest.edge.retained["/game/league"]) < BrokerLimits().packet_bytes - 100


# --- a host's commands for all tables ---------------------------------------------------------------------------------


def test_a_break_stops_every_clock_and_ends_with_resume(contest: Contest) -> None:
    contest.place(TEAMS)
    contest.hush()
    contest.order(HostAction.PAUSE)
    assert (contest.phase, contest.evening.resumes) == (Phase.BREAK, Phase.FREE)
    assert all(referee.stage.paused for referee in contest.referees())
    hosted = [json.loads(payload) for topic, payload in contest.received if topic.endswith("/game/hosted")]
    assert hosted == [
        {"by": "desk", "do": "pause", "everywhere": True},
        *[{"by": "desk", "do": "pause", "paused": True}] * 3,
    ]
    contest.wait(3600)
    assert contest.referee.state is State.TURN
    contest.hush()
    contest.order(HostAction.PAUSE)
    assert contest.codes() == ["clock_stopped"]
    contest.order(HostAction.RESUME)
    assert contest.phase is Phase.FREE
    assert not any(referee.stage.paused for referee in contest.referees())
    contest.hush()
    contest.order(HostAction.RESUME)
    assert contest.codes() == ["not_paused"]


def test_a_league_goes_on_in_a_break_and_is_shown_where_it_is_then(contest: Contest) -> None:
    contest.report(CUP)
    contest.order(HostAction.PAUSE)
    contest.report(PLAYED)
    assert (contest.phase, contest.evening.resumes) == (Phase.BREAK, Phase.BETWEEN)
    contest.order(HostAction.RESUME)
    assert contest.phase is Phase.BETWEEN


def test_a_host_orders_the_next_round_the_last_one_and_who_is_out(contest: Contest) -> None:
    contest.report(PLAYED)
    contest.order(HostAction.START)
    contest.order(HostAction.REMOVE, team="ann")
    contest.order(HostAction.FINISH)
    shown = contest.evening
    assert (shown.began, shown.withdrawn, shown.last) == (2, ("ann",), 1)
    contest.hush()
    contest.order(HostAction.FINISH)
    contest.order(HostAction.NEXT)
    contest.order(HostAction.REMOVE, team="nobody")
    contest.report(CUP)
    contest.order(HostAction.START)
    assert contest.codes() == ["wrong_state", "wrong_state", "unknown_target", "wrong_state"]
    contest.report(ENDED)
    contest.order(HostAction.FINISH)
    assert (contest.phase, contest.evening.name) == (Phase.OVER, "cup"), "the podium stays"


def test_a_game_that_begins_in_a_break_waits_for_its_end(contest: Contest) -> None:
    contest.order(HostAction.PAUSE)
    contest.fill(TEAMS)
    contest.say(topics.HOST.of(), write_host(m.HostCommand("desk", HostAction.START), DESK))
    assert (contest.referee.state, contest.referee.stage.paused) == (State.TURN, True)
    contest.order(HostAction.RESUME)
    assert not contest.referee.stage.paused


def test_a_lobby_that_opens_in_a_break_waits_for_its_end(contest: Contest) -> None:
    contest.order(HostAction.PAUSE)
    contest.open(m.NextGame(players=2))
    assert (contest.referee.state, contest.referee.stage.paused) == (State.LOBBY, True)
    for name in TEAMS:
        contest.join(name)
    contest.fill(TEAMS)
    assert isinstance(contest.referee.stage, Lobby)
    contest.order(HostAction.RESUME)
    assert contest.referee.state is State.TURN


def test_a_command_for_all_tables_is_given_at_the_first_one(contest: Contest) -> None:
    contest.hush()
    given = m.HostCommand("desk", HostAction.PAUSE, everywhere=True)
    contest.say(topics.HOST.of("t1"), write_host(given, DESK))
    assert contest.codes() == ["wrong_state"]
    assert not any(referee.stage.paused for referee in contest.referees())


# --- a restart --------------------------------------------------------------------------------------------------------


def test_a_restart_changes_nothing_of_what_is_on(tmp_path: Path) -> None:
    path = str(tmp_path / "a.journal")
    first = Contest(journal=DatabaseJournal(path))
    first.report(CUP)
    first.order(HostAction.PAUSE)
    first.order(HostAction.REMOVE, team="ann")
    shown = first.edge.retained["/game/league"]
    first.service.journal.close()
    second = Contest(journal=DatabaseJournal(path), resume="always")
    assert second.edge.retained["/game/league"] == shown
    assert all(referee.limits.held for referee in second.referees())
    second.order(HostAction.RESUME)
    assert second.phase is Phase.ROUND
    second.service.journal.close()


def test_a_team_has_the_badge_of_its_account_and_others_get_one_when_they_are_listed() -> None:
    roster = [Account("ann", "ann", Role.TEAM, secret("ann"), 75), Account("bob", "bob", Role.TEAM, secret("bob"))]
    stage = Stage(TEAMS, register=Register(roster), play=False)
    badges = EVENING.read(stage.edge.retained["/game/league"]).badges
    assert badges.keys() == set(TEAMS)
    assert badges["ann"] == 75
    assert badges["bob"] != 75


# --- arrivals ---------------------------------------------------------------------------------------------------------


def _accounts(*names: str) -> list[Account]:
    return [Account(name, name, Role.TEAM, secret(name), number) for number, name in enumerate(names)]


def test_teams_with_an_account_are_missing_until_they_are_listed() -> None:
    stage = Stage(["ann"], register=Register(_accounts("ann", "bob", "cleo")), play=False)
    assert EVENING.read(stage.edge.retained["/game/league"]).missing == ("bob", "cleo")


def test_a_team_that_gets_or_loses_its_account_during_arrivals_is_missing_or_no_longer() -> None:
    register = Register(_accounts("ann", "bob"))
    stage = Stage(["ann"], register=register, play=False)
    register.replace(_accounts("ann", "cleo", "dan"))
    stage.service.step()
    assert EVENING.read(stage.edge.retained["/game/league"]).missing == ("cleo", "dan")


def test_nobody_is_missing_once_games_are_on() -> None:
    stage = Stage(TEAMS, register=Register(_accounts(*TEAMS, "cleo")))
    shown = EVENING.read(stage.edge.retained["/game/league"])
    assert (shown.phase, shown.missing) == (Phase.FREE, ())


def test_a_team_that_comes_late_to_a_league_is_missing_until_then(contest: Contest) -> None:
    contest.report(CUP)
    assert "cy" in contest.evening.missing
    contest.join("cy")
    assert not contest.evening.missing


def test_more_missing_teams_than_a_packet_has_room_for_are_not_listed() -> None:
    stage = Stage(["ann"], register=Register(_accounts("ann", *(f"team{number}" for number in range(64)))), play=False)
    assert EVENING.read(stage.edge.retained["/game/league"]).missing == ()
