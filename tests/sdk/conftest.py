"""A session and its scripted server, for the tests of sessions."""

from __future__ import annotations

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import SEALER
from salvo.join.session import Session
from salvo.rules import generator


@pytest.fixture
def session() -> Session:
    return Session("me", "secret", generator(2), sealer=SEALER)


@pytest.fixture
def server(session: Session) -> ScriptedServer:
    return ScriptedServer(session)
