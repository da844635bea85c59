"""Settings of a pace by a host."""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.commands import HOST, check_host
from salvo.messages import Limits

PACED = Limits(players=2, pace_ms=800)


def set_by_a_host(settings: m.NextGame) -> Limits:
    sent = HOST.write(m.HostCommand("desk", m.HostAction.SET, settings=settings))
    received = check_host(HOST.validate(sent)).settings
    assert received == settings
    return settings.limits(PACED)
