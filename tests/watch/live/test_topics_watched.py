"""What a spectator sees of topics that are not ours."""

from __future__ import annotations

import threading
from pathlib import Path

from kit.brokers import Broker, StartServer
from kit.observer import Observer, announced, placed
from salvo import messages as m
from salvo.join import client
from salvo.join.fairness.proof import Proof
from salvo.join.fairness.proof_connection import ProofConnection
from salvo_game.log_verification import compare_stories, verify_file
from salvo_lab.bots.random_bot import RandomBot
from salvo_watch.live_views import Watcher


def test_a_team_and_a_watcher_write_proofs_that_hold(
    broker: Broker, start_server: StartServer, observer: Observer, tmp_path: Path
) -> None:
    watched, own = tmp_path / "watched.proof.jsonl", tmp_path / "own.proof.jsonl"
    with start_server(players=2, seed=None) as contest:
        observer.until(announced("/game/state", b"lobby"))
        rival = threading.Thread(target=client.play, args=(RandomBot(), broker.url, "a", "secret a"), daemon=True)
        rival.start()
        observer.until(lambda seen: placed(seen, "a") == 5)
        connection = ProofConnection(broker.url, "looks-on", clean_session=True)
        connection.record(Proof(watched), "")
        watcher = Watcher(connection, "")
        while watcher.seen.state != m.State.LOBBY:  # it comes into the lobby, as b does
            watcher.poll(0.2)
        team = threading.Thread(
            target=client.play, args=(RandomBot(), broker.url, "b", "secret b"), kwargs={"proof": own}, daemon=True
        )
        team.start()
        while not watcher.games_ended:
            watcher.poll(0.2)
        watcher.close()
        team.join(60)
        rival.join(60)
        key = contest.identity.signing_key
    reports = [verify_file(path, key) for path in (watched, own)]
    assert [report.finding for report in reports] == [None, None]
    assert reports[0].games[0].of == reports[1].games[0].of
    assert compare_stories(reports) == []
    assert len(reports[1].sent) >= 5 + 17
    assert b"secret" not in own.read_bytes().replace(b'"secret":"', b"")
