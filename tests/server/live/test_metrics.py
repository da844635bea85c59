"""What Prometheus reads of a server: as much as there is to know, while the server plays, and no more than that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kit.players import SECONDS, Announced, join, over, until_online
from kit.waiting import until
from salvo import messages as m
from salvo.net.mqtt import Connection
from salvo_game.journal_interface import Batch, JournalUnavailable
from salvo_server.contest import Contest, open_journal
from salvo_server.operations.metrics import Metrics
from salvo_server.settings import ServerSettings

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str) -> Samples:
    """Return the samples by name and labels."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


class Watched:
    """A server with its own broker, as ``salvo serve --metrics`` has it.

    Attributes:
        full: whether its journal takes nothing.
    """

    def __init__(self, folder: Path, received: Announced) -> None:
        settings = ServerSettings(
            listen="127.0.0.1:0",
            players=2,
            seed="7",
            over_seconds=600,
            journal=str(folder / "a.journal"),
            tables=("b",),
        )
        self.full = False
        self.metrics = Metrics()
        journal = open_journal(settings)
        commit = journal.commit

        def commit_if_there_is_room(batch: Batch) -> None:
            if self.full:
                raise JournalUnavailable("journal_full", "there is no space left")
            commit(batch)

        journal.commit = commit_if_there_is_room  # type: ignore[method-assign]
        self.contest = Contest(settings, self.metrics.counting(received), journal=self.metrics.timed(journal))
        self.metrics.watch(self.contest.service, self.contest.connection, self.contest.embedded)

    def text(self) -> str:
        return generate_latest(self.metrics.registry).decode()

    def samples(self) -> Samples:
        return read(self.text())

    def value(self, name: str, **labels: str) -> float:
        return self.samples()[name, tuple(sorted(labels.items()))]


@pytest.fixture
def received() -> Announced:
    return Announced()


@contextlib.contextmanager
def running(folder: Path, received: Announced) -> Iterator[Watched]:
    server = Watched(folder, received)
    with server.contest.in_background():
        until_online(server.contest.url)
        yield server


@pytest.fixture
def watched(tmp_path: Path, received: Announced) -> Iterator[Watched]:
    with running(tmp_path, received) as server:
        yield server


def publish(url: str, topic: str, payload: bytes) -> None:
    connection = Connection(url, "publisher", clean_session=True)
    connection.connect(SECONDS)
    connection.publish(topic, payload)
    assert connection.flush(SECONDS)
    connection.close()


def test_a_game_is_counted_with_its_turns_refusals_commits_and_clients(watched: Watched, received: Announced) -> None:
    teams = [join(watched.contest.url, name, games=1) for name in ("redoubtable", "bluebottle")]
    received.until(over)
    for team in teams:
        team.join(60)
    assert watched.value("salvo_turns_total", table="") == len(received.of(m.SalvoResolved))
    assert watched.value("salvo_games_total", table="", result="finished") == 1
    assert watched.value("salvo_games_total", table="", result="aborted") == 0
    assert (
        watched.value("salvo_games_total", table="b", result="finished")
        == watched.value("salvo_turns_total", table="b")
        == 0
    )
    assert watched.value("salvo_players", table="") == 2
    assert watched.value("salvo_uncommitted_steps") == 0
    assert watched.value("salvo_commit_seconds_count") > len(received.of(m.SalvoResolved))
    assert watched.value("salvo_lateness_seconds_count") > len(received.of(m.SalvoResolved))
    assert watched.value("salvo_connected") == 1
    assert watched.value("salvo_paused") == 0
    assert watched.value("salvo_broker_connections") >= 1
    assert watched.value("salvo_derivations_waiting") == 0
    assert watched.value("process_resident_memory_bytes") > 10e6
    text = watched.text()
    assert not [name for name in ("redoubtable", "bluebottle", "secret") if name in text]


def test_refusals_are_counted_by_place_and_code(watched: Watched, received: Announced) -> None:
    publish(watched.contest.url, "/game/request_participation", b"{")
    publish(watched.contest.url, "/game/state", b"over")
    until(lambda: ("salvo_refusals_total", (("code", "not_json"), ("place", "inbox"))) in watched.samples())
    assert watched.value("salvo_refusals_total", code="not_json", place="inbox") == 1
    assert watched.value("salvo_refusals_total", code="forbidden", place="broker") == 1
    watched.metrics.counting(received)(
        "", 0, None, [m.CommandRefused("ann", "turn_timeout", "turn 3 ended after 30 s")]
    )
    assert watched.value("salvo_refusals_total", code="turn_timeout", place="table") == 1


def test_a_journal_that_takes_nothing_shows_in_all_that_depends_on_it(watched: Watched, received: Announced) -> None:
    watched.full = True
    join(watched.contest.url, "red")
    until(lambda: watched.value("salvo_paused") == 1)
    assert watched.value("salvo_uncommitted_steps") > 0
    assert watched.value("salvo_commit_failures_total") >= 1
    watched.full = False
    until(lambda: watched.value("salvo_paused") == 0)
    until(lambda: watched.value("salvo_uncommitted_steps") == 0)
