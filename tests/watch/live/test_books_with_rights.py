"""Every ruleset in a contest with accounts: rights, proofs, and the referee's screen."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kit.guarded import guarded, wait_for_users
from salvo.client import GameReport
from salvo.client import play as play_contest
from salvo.permissions import Role
from salvo.rules import BOOKS, RuleBook
from salvo.view import Shot, View
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.log_verification import compare_stories, verify_file
from salvo_server.storage.identity import Identity
from salvo_watch.live_views import RefereeWatcher
from watch.onlookers import onlooker, until

#: The one has turns that go on, the other several winners.
BOTH = pytest.mark.parametrize("book", [BOOKS["streak"], BOOKS["smackdown"]], ids=lambda book: book.name)


class Lazy(RandomBot):
    """Gives up what is left of every fifth turn."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if view.turn % 5 == 0 and view.rules.skipping and (view.fired_this_turn or view.shots == 1):
            return ()
        return view.untouched.sample(1 if view.turn % 5 == 0 else view.shots)


@pytest.mark.long
@BOTH
def test_a_strict_contest_by_every_book_is_seen_and_proven(book: RuleBook, tmp_path: Path) -> None:
    names = ("red", "blue")
    reports: dict[str, list[GameReport]] = {}
    given: dict[str, Any] = {
        "profile": "strict",
        "identity": Identity.fresh(),
        "draw": "fair",
        "seed": None,
        "referee_delay_ms": 0,
    }
    with guarded("embedded", tmp_path, book=book, **given) as contest:
        secrets = {name: contest.roster.add(name) for name in names}
        judge = onlooker(contest, "judge.1", contest.roster.add("judge", Role.REFEREE), RefereeWatcher)

        def run(name: str) -> None:
            url, proof = contest.url_of(name, secrets[name]), tmp_path / f"{name}.jsonl"
            reports[name] = play_contest(Lazy(), url, name, secrets[name], pin=False, proof=proof)

        for name in names:
            wait_for_users(contest.url, name, secrets[name])
        seats = [threading.Thread(target=run, args=(name,), daemon=True) for name in names]
        for seat in seats:
            seat.start()
        until(lambda: judge.games_ended == 1, judge)
        for seat in seats:
            seat.join(60)
        judge.close()
        results = contest.service.tables[""].referee.results
    assert all(len(reports[name]) == 1 for name in names)
    proofs = [verify_file(tmp_path / f"{name}.jsonl") for name in names]
    for proof in proofs:
        assert proof.finding is None
        assert len(proof.games) == 1
        assert proof.sent
    assert compare_stories(proofs) == []
    if book.skipping:
        allowed = book.longest_salvo - 1 and 1  # a first shot, where there are more
        assert all(result.shots <= allowed for result in results if result.turn % 5 == 0)
