"""Some simulated contests, every boundary of the server's round, and bugs planted to see that they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.command_writer import write_shot
from salvo.codec.header import read_header
from salvo.join.fairness.witness import Witness
from salvo.join.session import Session, playing
from salvo.join.session.machine_states import JoiningEvent, PlayingEvent
from salvo.join.session.state import SessionState
from salvo.join.session.tables import JOINING, PLAYING
from salvo.view import Feed, Shot, View
from salvo_game.game_states import Turn
from salvo_game.journal_interface import Batch, SavedGame, StepTaken
from salvo_game.lobby import Lobby
from salvo_game.log import Resends, TableLog
from salvo_game.match import Match
from salvo_game.recovery import Openings, Recovered, open_table, recover
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.brokers.embedded.sessions import MqttSession as BrokerSession
from salvo_server.core.authenticator import Authenticator, Opened
from salvo_server.core.inbox import Inbox
from salvo_server.core.play import Play
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.service import Service
from simulation import crypto, faults, game, run, sharing
from simulation.disk import SimJournal, every_game
from simulation.faults import SERVER_POINTS, Fault

#: Short games of two teams of ours on the small board; in the second one no turn may run out.
_SHORT = (s for s in range(1000) if game.draw(s).book is game.SMALL and list(game.draw(s).teams) == ["team0", "team1"])
SHORT = next(_SHORT)
AMPLE = next(seed for seed in _SHORT if game.draw(seed).strict)


@pytest.fixture(autouse=True)
def _economy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)
    for sealing in crypto.SEALING:
        monkeypatch.setattr(sealing, "seal_for_server", crypto.seal_for_server)
    sharing.share(monkeypatch.setattr)


@pytest.mark.long
def test_no_invariant_breaks() -> None:
    for seed in range(1, 7):
        report = game.run(seed)
        assert not report.wrong, f"{report.wrong}; again: {run.command(seed)}"


@pytest.mark.long
@pytest.mark.parametrize("rules", ["smackdown", "xbs"])
def test_no_invariant_breaks_by_other_rules(rules: str) -> None:
    for seed in range(1, 3):
        report = game.run(seed, rules=rules)
        assert not report.wrong, f"{report.wrong}; again: {run.command(seed, rules=rules)}"


@pytest.mark.long
def test_no_invariant_breaks_with_the_broker_in_the_servers_process() -> None:
    for seed in range(1, 7):
        report = game.run(seed, embedded=True)
        assert not report.wrong, f"{report.wrong}; again: {run.command(seed, embedded=True)}"


def test_a_simulation_with_the_same_seed_and_faults_repeats_exactly() -> None:
    drawn = game.draw(3).faults
    assert drawn
    first, again, without = game.run(SHORT, drawn), game.run(SHORT, drawn), game.run(SHORT, [])
    assert first.digest == again.digest != without.digest


#: Once a game is over nobody says anything any more that would be decoded and acknowledged.
_BOUNDARIES = [
    pytest.param(point, phase, marks=() if phase == "turn" else pytest.mark.long)
    for phase in ("lobby", "turn", "over")
    for point in SERVER_POINTS
    if phase != "over" or not ("decode" in point or "acknowledge" in point)
]


@pytest.mark.parametrize(("point", "phase"), _BOUNDARIES)
def test_a_kill_at_every_boundary_of_the_servers_round_is_survived(point: str, phase: str) -> None:
    crash = Fault(point, phase, 5 if phase == "turn" else 1, "crash", ("server", "0.1"))
    report = game.run(SHORT, [crash])
    assert (report.wrong, report.happened) == ("", [crash])


@pytest.mark.long
@pytest.mark.parametrize("point", SERVER_POINTS)
def test_a_kill_of_server_and_embedded_broker_at_every_boundary_is_survived(point: str) -> None:
    crash = Fault(point, "turn", 5, "crash", ("server", "0.1"))
    report = game.run(SHORT, [crash], embedded=True)
    assert (report.wrong, report.happened) == ("", [crash])


def test_a_team_that_was_killed_while_it_placed_accuses_nobody() -> None:
    """Messages of its earlier run count, which the new one has not sent: it once called that unfair."""
    killed = faults.parse("team1.acknowledge.before@lobby#8=crash:team1:0.194")
    report = game.run(300251, killed)
    assert (report.wrong, report.happened) == ("", killed)


def test_a_team_that_comes_back_to_its_whole_fleet_in_a_lobby_of_before_accuses_nobody() -> None:
    """It had no ship to send, and noted a fleet as sent without any message: it called the game unfair."""
    drawn = faults.parse(
        "server.commit.before@lobby#2=crash:server:2.117,team1.receive.after@lobby#17=crash:team1:0.637,"
        "server.receive.after@turn#3=crash:broker:2.061:old"
    )
    report = game.run(3825, drawn)
    assert (report.wrong, report.happened) == ("", drawn)


def test_the_end_of_a_lobby_is_published_though_the_server_was_killed_in_the_next_one() -> None:
    """A host ended it; killed before that had reached the broker, the server came back with the next lobby alone."""
    drawn = faults.parse(
        "broker.publish.before@lobby#8=crash:broker:2.055:all,server.acknowledge.after@lobby#17=crash:server:2.231"
    )
    report = game.run(21648, drawn)
    assert (report.wrong, report.happened) == ("", drawn)


def test_a_broker_killed_while_a_client_connects_receives_nothing_from_it() -> None:
    """It went on hearing, and what was on its way then was lost for ever on a connection that seemed to live."""
    drawn = faults.parse(
        "server.commit.after@lobby#5=crash:server:1.357,server.decode.before@turn#2=crash:broker:0.291:all,"
        "server.receive.after@turn#3=crash:broker:2.430:old,broker.publish.routed@turn#2=crash:broker:0.248:all"
    )
    assert game.run(3669, drawn).wrong == ""


#: Requests, then ships, then a shot in the middle of a salvo, then a whole salvo and more.
_LOST = faults.parse(
    "team0.request.taken@lobby#1=lose:request:2,team1.command.taken@lobby#2=lose:command:3,"
    "team0.command.taken@turn#3=lose:command:1,team1.command.taken@turn#10=lose:command:6"
)


def test_a_message_that_the_broker_acknowledged_and_lost_costs_no_place_and_no_turn() -> None:
    report = game.run(AMPLE, _LOST)
    assert (report.wrong, set(report.happened)) == ("", set(_LOST))
    assert report.statistics["turns that ran out"] == 0


def test_an_empty_lobby_that_is_opened_with_other_settings_is_the_same_game() -> None:
    """Teams hear its first opening, and the server is killed before any of them is listed."""
    contest = game.Contest(replace(game.draw(SHORT), games=2, faults=[]))
    server, received = contest.server, contest.broker.received
    server.change = lambda setup: setup._replace(limits=replace(setup.limits, turn_ms=121_000))

    def kill_at_the_second_opening(client: str, topic: str, payload: bytes, retain: bool) -> None:
        received(client, topic, payload, retain)
        if topic == "/game/log" and server.incarnation == 1 and server.referee.number == 2:
            contest.world.after(0.0, server.kill)
            contest.world.after(0.3, server.start)

    contest.broker.received = kill_at_the_second_opening
    contest.play()
    headers = [read_header(each.opened.header) for each in every_game(contest.disk)]
    played_by = [(each.game, each.limits.turn_ms) for each in headers]
    assert played_by == [(1, 120_000), (2, 120_000), (2, 121_000), (3, 121_000)]


def test_drawn_faults_are_parsed_back_unchanged() -> None:
    drawn = [fault for seed in range(50) for fault in game.draw(seed).faults]
    assert {fault.action for fault in drawn} == {"crash", "cut", "disk", "lose", "slow", "stop"}
    assert faults.parse(faults.write(drawn)) == drawn
    with pytest.raises(ValueError, match="is no fault"):
        faults.parse("rain@turn#1")


def test_a_failing_list_is_shrunk_to_what_it_needs() -> None:
    drawn = [fault for seed in range(20) for fault in game.draw(seed).faults]
    needed = {drawn[3], drawn[11]}
    assert set(run.shrink(0, drawn, lambda fewer: needed <= set(fewer))) == needed


# --- planted bugs -----------------------------------------------------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]
_settle, _connected = Service._settle, Session.connected
_send_on, _write_shot, _take_due = playing.send_on, write_shot, Resends.take_due
_command, _restore_table = Inbox._command, Play._restore_table


def _acknowledge_before_commit(patch: pytest.MonkeyPatch) -> None:
    def settle(self: Service) -> None:
        for message in self.pending.receipts:
            self.link.acknowledge(message)
        self.pending.receipts.clear()
        _settle(self)

    patch.setattr(Service, "_settle", settle)


def _publish_before_commit(patch: pytest.MonkeyPatch) -> None:
    def settle(self: Service) -> None:
        outbox: Sequence[Publication] = self.pending.publications if self.link.connected else ()
        for topic, payload, retain in outbox:
            self.link.publish(topic, payload, retain=retain)
        if outbox:
            self.pending.publications.clear()
        _settle(self)

    patch.setattr(Service, "_settle", settle)


def _lose_the_log_in_a_crash(patch: pytest.MonkeyPatch) -> None:
    def forgetful(*given: Any) -> Recovered:
        recovered = recover(*given)
        recovered.unsent = [publication for publication in recovered.unsent if publication.topic != "/game/log"]
        return recovered

    patch.setattr("salvo_server.core.play.recover", forgetful)


def _begin_the_log_anew_after_a_crash(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TableLog, "skip", lambda self, step: None)


def _open_the_game_with_another_secret(patch: pytest.MonkeyPatch) -> None:
    real = Openings.set_table

    def forgetful(self: Openings, name: str, former: SavedGame | None) -> Referee:
        stored = real(self, name, former)
        return Referee(self._next_seed(), name, self.book, stored.limits, stored.number, self.draw)

    patch.setattr(Openings, "set_table", forgetful)


def _say_nothing_again(patch: pytest.MonkeyPatch) -> None:
    def forgetful(*given: Any) -> Recovered:
        recovered = recover(*given)
        recovered.unsent = ()
        return recovered

    patch.setattr("salvo_server.core.play.recover", forgetful)


def _forget_what_was_burned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Authenticator, "burn", lambda self, *given: None)


def _leave_what_is_retained(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RetainedSync, "_corrections", lambda self: [])


def _draw_the_starter_anew(patch: pytest.MonkeyPatch) -> None:
    draws = iter(range(1_000_000))
    patch.setattr("salvo_game.lobby.draw_starter", lambda book, seed, table, number, players: next(draws) % players)


def _lose_the_last_step(patch: pytest.MonkeyPatch) -> None:
    commit = SimJournal.commit

    def lossy(self: SimJournal, batch: Batch) -> None:
        commit(self, batch)
        lost = [record for record in batch if isinstance(record, StepTaken)][-1:]
        self._disk.log[:] = [record for record in self._disk.log if record not in lost]

    patch.setattr(SimJournal, "commit", lossy)


def _come_back_without_asking(patch: pytest.MonkeyPatch) -> None:
    def connected(self: Session, now: float = 0.0) -> None:
        if self.view is None:
            _connected(self, now)

    patch.setattr(Session, "connected", connected)


def _do_not_fire_again(patch: pytest.MonkeyPatch) -> None:
    def send(session: SessionState, view: View, shots: Sequence[Shot]) -> None:
        if view.shots:  # a recap's view has none: they are on their way
            _send_on(session, view, shots)
        else:
            Feed(view).fired(shots)

    patch.setattr(playing, "send_on", send)
    _never_send_a_salvo_again(patch)


def _fire_again_with_the_same_bytes(patch: pytest.MonkeyPatch) -> None:
    written: dict[Any, bytes] = {}

    def write(x: int, y: int, context: Any, sealer: Any) -> bytes:
        return written.setdefault((sealer.key, context, x, y), _write_shot(x, y, context, sealer))

    patch.setattr("salvo.codec.command_writer.write_shot", write)


def _never_ask_again_to_take_part(patch: pytest.MonkeyPatch) -> None:
    transitions = [transition for transition in JOINING if transition.event is not JoiningEvent.NO_ANSWER]
    patch.setattr("salvo.join.session.tables.JOINING", transitions)


def _never_send_a_salvo_again(patch: pytest.MonkeyPatch) -> None:
    transitions = [transition for transition in PLAYING if transition.event is not PlayingEvent.NO_RESULT]
    patch.setattr("salvo.join.session.tables.PLAYING", transitions)


def _take_a_repeated_shot_for_another_one(patch: pytest.MonkeyPatch) -> None:
    def read(self: Inbox, table: Table, opened: Opened) -> m.Input:
        command = _command(self, table, opened)
        return replace(command, context=None) if isinstance(command, m.Fire) else command

    patch.setattr(Inbox, "_command", read)


def _hear_results_twice(patch: pytest.MonkeyPatch) -> None:
    def resolved(session: SessionState, result: Any) -> None:
        if session.view is not None and result.game == session.view.game:
            Feed(session.view).resolved(result)

    patch.setattr(playing, "resolved", resolved)


def _let_nobody_else_shoot(patch: pytest.MonkeyPatch) -> None:
    def begin(match: Match, now: int) -> Any:
        [began], turn = _begin(match, now)
        return [began if now % 7 else replace(began, turn=began.turn - 1)], turn  # type: ignore[type-var, union-attr]

    _begin = Turn.begin
    patch.setattr(Turn, "begin", begin)


def _never_ask_for_the_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Session, "missed_log", lambda self, now: [])


def _say_again_only_the_first_portion(patch: pytest.MonkeyPatch) -> None:
    def once(self: Resends, *given: int) -> list[Publication]:
        portion = _take_due(self, *given)
        self._wanted.clear()
        return portion[:3]

    patch.setattr(Resends, "take_due", once)


def _forget_what_the_connection_missed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Witness, "connected_anew", lambda self: self._pending.clear())


def _replay_the_next_lobby_with_the_settings_of_its_game(patch: pytest.MonkeyPatch) -> None:
    def alone(game: SavedGame, *given: Any) -> Table:
        return open_table(game._replace(next_game=None), *given)

    patch.setattr("simulation.checks.open_table", alone)


def _play_on_with_the_new_settings(patch: pytest.MonkeyPatch) -> None:
    def restore_table(self: Play, game: SavedGame, *given: Any) -> list[Publication]:
        unsent = _restore_table(self, game, *given)
        stage = self.tables[game.opened.table].referee.stage
        holder: Lobby | Match = stage if isinstance(stage, Lobby) else stage.match
        holder.terms = replace(holder.terms, limits=self.openings.limits[game.opened.table])
        return unsent

    patch.setattr(Play, "_restore_table", restore_table)


PLANTED: list[Plant] = [
    _acknowledge_before_commit,
    _publish_before_commit,
    _say_nothing_again,
    _lose_the_log_in_a_crash,
    _begin_the_log_anew_after_a_crash,
    _open_the_game_with_another_secret,
    _forget_what_was_burned,
    _leave_what_is_retained,
    _draw_the_starter_anew,
    _lose_the_last_step,
    _come_back_without_asking,
    _do_not_fire_again,
    _fire_again_with_the_same_bytes,
    _never_ask_again_to_take_part,
    _never_send_a_salvo_again,
    _take_a_repeated_shot_for_another_one,
    _hear_results_twice,
    _let_nobody_else_shoot,
    _never_ask_for_the_log,
    _say_again_only_the_first_portion,
    _forget_what_the_connection_missed,
    _replay_the_next_lobby_with_the_settings_of_its_game,
    _play_on_with_the_new_settings,
]


def _seeds() -> Iterator[int]:
    """Those whose faults are likely to show it, first some that lose the broker, a request or a salvo on its way."""
    return (seed for seed in (925, 7, 10, *range(1, 400)) if len(game.draw(seed).faults) > 2)


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__[1:].replace("_", " "))
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(game.run(seed).wrong for seed in _seeds())


def _send_nothing_again_to_the_attached_server(patch: pytest.MonkeyPatch) -> None:
    def resume(self: BrokerSession) -> None:
        self._again.clear()
        self.pump()

    patch.setattr(BrokerSession, "resume", resume)


def _count_as_delivered_what_the_broker_has_not_routed(patch: pytest.MonkeyPatch) -> None:
    publish = AttachedLink.publish

    def hasty(self: AttachedLink, topic: str, payload: bytes, *, retain: bool = False) -> None:
        publish(self, topic, payload, retain=retain)
        self.delivered = self.published

    patch.setattr(AttachedLink, "publish", hasty)


PLANTED_IN_THE_LINK: list[Plant] = [
    _acknowledge_before_commit,
    _send_nothing_again_to_the_attached_server,
    _count_as_delivered_what_the_broker_has_not_routed,
]


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTED_IN_THE_LINK, ids=lambda plant: plant.__name__[1:].replace("_", " "))
def test_a_planted_bug_of_the_attached_link_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(game.run(seed, embedded=True).wrong for seed in range(1, 100))
