"""A league's views of its tables, against the table of what every follower shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kit.followed_tables import CASES, Case, Outside
from salvo.codec.published import read_published
from salvo_league.table_views import FOLLOWED, Views


class LeagueView(Outside):
    def __init__(self) -> None:
        self.views = Views([""])

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None:
        published = read_published(topic, payload)
        assert published is not None
        if published[0].topic in FOLLOWED:
            self.views.receive(*published, now=0.0)

    def connect(self) -> None:
        self.views.connected()

    def known(self) -> Mapping[str, Any]:
        view = self.views.all()[""]
        assert view.here
        return {
            "state": view.state,
            "players": view.listed,
            "turn": view.resolved[1],
            "winners": view.winners or (),
            "aborted": view.winners == (),
        }


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_league_knows_of_a_table_what_every_follower_shows(case: Case) -> None:
    case.check(LeagueView())
