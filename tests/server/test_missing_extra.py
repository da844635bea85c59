"""What is said when an optional part of the distribution is not installed."""

from __future__ import annotations

import sys

import pytest

from kit.absent import hide
from salvo.errors import MissingExtra
from salvo_server.brokers import embedded


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As if nothing had imported the broker or its libraries yet."""
    for name in list(sys.modules):
        if name.startswith(("amqtt", "websockets", "salvo_server.brokers.embedded.")):
            monkeypatch.delitem(sys.modules, name)
    for name in ("addresses", "broker", "packets", "peers", "runner", "sessions"):
        monkeypatch.delattr(embedded, name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("library", ["amqtt", "websockets"])
def test_without_its_libraries_the_embedded_broker_says_how_to_get_them(
    library: str, fresh: pytest.MonkeyPatch
) -> None:
    hide(library, fresh)
    with pytest.raises(MissingExtra) as raised:
        embedded.EmbeddedBroker()
    assert "battleship-salvo[server]" in str(raised.value)
    assert raised.value.__cause__ is None
