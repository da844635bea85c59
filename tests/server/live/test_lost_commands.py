"""A broker acknowledges commands and loses them, as from a full queue to the server; no team loses place or turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kit.players import Heard, join, over, until_online
from salvo import messages as m
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.packets import Message
from salvo_server.brokers.embedded.sessions import Session
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

Losing = Callable[[str, int], None]


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> Losing:
    """Let the embedded broker lose each client's message of a kind with this number, from 1, and acknowledge it."""

    def lose(kind: str, number: int) -> None:
        taken: Counter[str] = Counter()
        publish = HardenedBroker.publish

        def lossy(self: HardenedBroker, sender: Session, message: Message, *given: Any) -> None:
            of_the_kind = message.topic.endswith(b"/" + kind.encode())
            taken[sender.client_id] += of_the_kind
            if not (of_the_kind and taken[sender.client_id] == number):
                publish(self, sender, message, *given)

        monkeypatch.setattr(HardenedBroker, "publish", lossy)

    return lose


@pytest.fixture
def contest(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Heard]]:
    """A contest on an embedded broker, for two teams whose patience is short; its URL, and what is heard there."""
    monkeypatch.setattr("salvo.session.joining.ASK_AGAIN_SECONDS", (0.0, 0.1))
    for machine in ("joining", "placing", "playing"):
        monkeypatch.setattr(f"salvo.session.{machine}.PATIENCE_SECONDS", 0.1)
    heard = Heard()
    with EmbeddedBroker() as broker:
        settings = ServerSettings(broker=broker.url, seed="7", players=2, over_seconds=600)
        with Contest(settings, heard).in_background():
            until_online(broker.url)
            yield broker.url, heard


def test_a_shot_that_is_lost_is_fired_again_in_the_same_turn(losing: Losing, contest: tuple[str, Heard]) -> None:
    url, heard = contest
    losing("fire", 3)
    for name in ("a", "b"):
        join(url, name)
    heard.until(over)
    assert {refused.code for refused in heard.of(m.CommandRefused)} <= {"stale_context"}
    assert {result.shots for result in heard.of(m.SalvoResolved)[:2]} == {5}
