"""A team without manners at the table: the others play as if it were not there, and every rudeness gets its answer."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.spec_client import SpecClient
from kit.brokers import Broker, StartServer
from kit.guarded import guarded, play, wait_for_users
from kit.observer import Observer
from kit.players import SECONDS, Heard, over
from kit.probe import Login, Probe
from kit.programs import BROKERS
from kit.troublemaker import ANSWERED, DEPARTURES, HUNG_UP, LET_IN, PIECES, SHUT_OUT, Troublemaker
from kit.waiting import until
from salvo import client
from salvo import messages as m
from salvo.net.mqtt import BrokerUrl
from salvo_lab.bots.random_bot import RandomBot
from salvo_server import service
from salvo_server.contest import Contest
from salvo_server.core.referee import Referee

Step = tuple[int, m.Input | None, list[m.Announcement]]


class Honest:
    """Two SDK bots and a client of the bare specification, and what became of them."""

    def __init__(self, broker: Broker) -> None:
        self.places: dict[str, int] = {}
        self._plain = SpecClient("127.0.0.1", broker.port, "plain", "secret plain", fresh=False, seed=1)
        self._threads = [
            threading.Thread(target=self._play, args=(broker.url, name), daemon=True) for name in ("ann", "bob")
        ]

    def _play(self, url: str, name: str) -> None:
        [report] = client.play(RandomBot(), url, name, f"secret {name}", seed="7")
        self.places[name] = report.place

    def __enter__(self) -> Honest:
        self._plain.start()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._plain.stop()

    def wait(self) -> str:
        assert self._plain.over.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        return self._plain.winner


@pytest.mark.long
def test_an_honest_game_beside_a_rude_team_ends_and_each_rudeness_gets_what_the_contract_promises(
    broker: Broker, start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "RETAINED_COMMANDS_MS", 300)
    heard, steps, stop = Heard(), list[Step](), threading.Event()

    def listen(table: str, now: int, command: m.Input | None, announcements: Any) -> None:
        steps.append((now, command, list(announcements)))
        heard(table, now, command, announcements)

    rude = Troublemaker(broker.url, seed=1)
    with start_server(listen, players=4) as contest:
        with Honest(broker) as honest:
            trouble = threading.Thread(target=rude.run, args=(stop,), daemon=True)
            trouble.start()
            winner = honest.wait()
        _wait_until_nothing_is_kept(broker, contest)
        stop.set()
        trouble.join(SECONDS)
        limits = contest.service.tables[""].referee.limits
    _check_the_game(heard, winner, honest)
    _check_that_refusals_changed_nothing(steps, limits)
    _check_the_answers(rude, contest.service.counts + contest.service.gate.counts)


@pytest.mark.long
@pytest.mark.parametrize("kind", BROKERS)
def test_two_honest_teams_beside_it_lose_no_turn_and_its_summary_is_what_happened(kind: str, tmp_path: Path) -> None:
    heard, stop = Heard(), threading.Event()
    with guarded(kind, tmp_path, limits=m.Limits(players=3), listener=heard) as contest:
        secrets = {name: contest.roster.add(name) for name in ("ann", "bob", "rude")}
        wait_for_users(contest.url, "rude.4", secrets["rude"])
        rude = Troublemaker(contest.url, seed=1, team="rude", secret=secrets["rude"])
        with Probe(BrokerUrl.parse(contest.url)) as listener:
            listener.greet("rude.3", Login("rude.3", secrets["rude"]))
            listener.subscribe("/players/rude/error", "/players/rude/ships/+/error")
            trouble = threading.Thread(target=rude.run, args=(stop,), daemon=True)
            trouble.start()
            play(contest, ["ann", "bob"])
            heard.until(over)
            _wait_until_all_is_heard(rude, listener)
            stop.set()
            trouble.join(SECONDS)
    [won] = heard.of(m.GameWon)
    turns, salvos = heard.of(m.TurnBegan), heard.of(m.SalvoResolved)
    fired = {(salvo.turn, salvo.player): salvo.shots for salvo in salvos[:-1]}
    honest = [(turn, turn.player) for turn in turns[:-1] if turn.player != "rude"]
    assert honest
    assert [fired[turn.turn, player] for turn, player in honest] == [turn.shots for turn, _ in honest]
    report = rude.report
    assert report.winners == [won.winner]
    assert report.done["coming and going"] == len(heard.of(m.PlayerLeft)) == DEPARTURES
    # On a busy machine the broker does not take every further connection in time: then a piece is not tried.
    for noted, pieces in (
        (LET_IN, ("silent sockets",)),
        (ANSWERED, ("a storm of filters and pings",)),
        (HUNG_UP, ("a huge packet", "a wildcard as topic")),
    ):
        done = sum(report.done[piece] for piece in pieces)
        assert done - report.heard[SHUT_OUT] <= report.heard[noted] <= done, noted


def _wait_until_all_is_heard(rude: Troublemaker, listener: Probe) -> None:
    """Compare what it has heard with another connection that may read the same."""

    def codes() -> tuple[Counter[str], Counter[str]]:
        assert listener.ping()
        arrived = Counter(message.payload.decode().partition(":")[0] for message in listener.heard)
        noted = rude.report.heard.items()
        return arrived, Counter({code: n for code, n in noted if code not in (LET_IN, SHUT_OUT, ANSWERED, HUNG_UP)})

    def is_all_there() -> bool:
        arrived, noted = codes()
        return arrived == noted and bool(rude.report.winners)

    until(is_all_there, codes, SECONDS)


def _wait_until_nothing_is_kept(broker: Broker, contest: Contest) -> None:
    """Commands that were left retained are cleared, also the will of a client that vanished."""
    end = time.monotonic() + SECONDS
    while True:
        observer = Observer(broker.url)
        observer.until(lambda seen: any(x.topic == "/game/winner" for x in seen))
        observer.close()
        kept = [x.topic for x in observer.seen if x.topic.endswith(("/fire", "/place", "/request_participation"))]
        if not kept and contest.service.counts["retained_command"] >= 3:
            return
        assert time.monotonic() < end, kept


def _check_the_game(heard: Heard, winner: str, honest: Honest) -> None:
    [won] = heard.of(m.GameWon)
    assert won.winner == winner
    places = {stats.player: stats.place for stats in heard.of(m.PlayerStats)}
    assert set(places) == {"ann", "bob", "plain", "rude"}
    assert honest.places == {name: places[name] for name in ("ann", "bob")}
    turns, salvos = heard.of(m.TurnBegan), heard.of(m.SalvoResolved)
    assert [salvo.turn for salvo in salvos] == list(range(1, len(salvos) + 1))
    # Nobody lost a shot: every salvo but the winning one is as long as its turn allowed.
    assert [(s.player, s.shots) for s in salvos[:-1]] == [(t.player, t.shots) for t in turns[: len(salvos) - 1]]
    assert "turn_timeout" not in {refused.code for refused in heard.of(m.CommandRefused)}


def _check_that_refusals_changed_nothing(steps: list[Step], limits: Any) -> None:
    """The accepted commands alone, without all that was refused, give the same game."""
    told = (m.TurnBegan, m.SalvoResolved, m.ShotLanded, m.PlayersListed, m.PlayerStats, m.GameWon)
    again = Referee("7", limits=limits)
    for now, command, announced in steps:
        expected = [a for a in announced if isinstance(a, told)]
        if command is None or expected or any(isinstance(a, m.PlacementJudged) and a.approved for a in announced):
            repeated = again.receive(command, now) if command is not None else again.handle_timer(now)
            assert [a for a in repeated if isinstance(a, told)] == expected
    assert over([a for _, _, announced in steps for a in announced])
    assert again.state == "over"


def _check_the_answers(rude: Troublemaker, counts: Counter[str]) -> None:
    report = rude.report
    for piece in PIECES:
        assert report.done[piece.name] > 0, piece.name
        for code in piece.codes:
            assert report.heard[code] + counts[code] > 0, f"{piece.name}: {code} by {piece.sentence}"
