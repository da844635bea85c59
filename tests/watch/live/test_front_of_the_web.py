"""The web front behind the front for strangers."""

from __future__ import annotations

from pathlib import Path

from kit.front import Front
from kit.mosquitto import ContestMosquitto
from kit.web_front import web_front
from salvo_watch.web.app import POLICY
from server.live.test_front import RED, answer, statuses


def test_the_web_front_is_there_and_not_without_end(mosquitto: ContestMosquitto, tmp_path: Path) -> None:
    with (
        web_front(mosquitto.url, "--host", "contest.example", account=(RED.user, RED.secret)) as web,
        Front(tmp_path, mosquitto.port, mosquitto.websocket_port, web=web.port, requests=20) as front,
    ):
        status, policy, page = answer(front, "/")
        assert (status, policy) == (200, POLICY)
        assert "https://contest.example" in answer(front, "/sdk")[2].decode()
        assert b"<html" in page
        assert answer(front, "/front.cfg")[0] == 404
        assert statuses(front, "/healthz", 30)[-1] == 429
