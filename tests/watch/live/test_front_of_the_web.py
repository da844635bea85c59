"""The web front behind the front for strangers."""

from __future__ import annotations

import contextlib
from pathlib import Path

from kit.accounts import KEEPER, SERVER, contest
from kit.behind_the_front import RED, answer, statuses
from kit.front import Front
from kit.mosquitto import ContestMosquitto
from kit.programs import needs
from kit.secured import SECONDS
from kit.web_front import web_front
from salvo_display.web_server.web_pages import POLICY
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity


@needs("mosquitto")
@needs("haproxy")
def test_the_proxy_serves_the_web_front_and_limits_its_requests(tmp_path: Path) -> None:
    with (
        ContestMosquitto(SERVER, KEEPER) as mosquitto,
        DynamicSecurity(mosquitto.server_url, KEEPER) as security,
        contextlib.ExitStack() as stack,
    ):
        security.sync(contest("red", "blue"), [""])
        security.wait(SECONDS)
        web = stack.enter_context(web_front(mosquitto.url, "--host", "contest.example", account=(RED.user, RED.secret)))
        front = stack.enter_context(
            Front(tmp_path, mosquitto.port, mosquitto.websocket_port, web=web.port, requests=20)
        )
        status, policy, page = answer(front, "/")
        assert (status, policy) == (200, POLICY)
        assert "https://contest.example" in answer(front, "/sdk")[2].decode()
        assert b"<html" in page
        assert answer(front, "/front.cfg")[0] == 404
        assert statuses(front, "/healthz", 30)[-1] == 429
