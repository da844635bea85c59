"""Luck and skill apart: what a salvo promised, against every fleet of a small board, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from kit.layouts import layouts
from salvo import Bot
from salvo.messages import SalvoResolved
from salvo.rules import (
    SALVO,
    Announce,
    Grid,
    RuleBook,
    ShipClass,
    generator,
)
from salvo.view import Feed, Shot, View
from salvo_lab import arena
from salvo_lab.bots.clues import chart
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.explaining.explain import Explainer, Explanation, Outlook, account

#: Two ships on 4 x 4: 648 fleets.
POND = replace(SALVO, name="pond", grid=Grid(4, 4), fleet=(ShipClass("c", 3), ShipClass("a", 2)))
POOL = replace(SALVO, name="pool", grid=Grid(6, 6), fleet=(ShipClass("d", 4), ShipClass("c", 3), ShipClass("a", 2)))


def view_of(book: RuleBook, rivals: Sequence[str] = ("you",)) -> View:
    return View(book, "me", ("me", *rivals), 1, book.random_fleet(generator(1)), generator(2))


def shots_at(cells: Sequence[int], book: RuleBook = POND, player: str = "you") -> list[Shot]:
    return [Shot(player, *book.grid.xy(cell)) for cell in cells]


def answered(view: View, turn: int, shots: Sequence[Shot], hits: Sequence[bool]) -> SalvoResolved:
    """A turn of the player's own, as it is told; which shots hit only where the rules tell that."""
    each = view.rules.announce is Announce.EACH_SHOT
    return SalvoResolved(1, turn, "me", len(shots), sum(hits), (), (), tuple(hits) if each else None)


def fire(
    view: View, turn: int, shots: Sequence[Shot], hits: Sequence[bool], explainer: Explainer | None = None
) -> Explanation:
    Feed(view).begin_turn(turn, 2)
    outlook = (explainer or Explainer(fleets=4000)).look(view)
    result = answered(view, turn, shots, hits)
    Feed(view).fired(shots)
    Feed(view).resolved(result)
    return outlook.judge(shots, result)


# --- against every fleet ------------------------------------------------------------------------------------------


def _agreeing(book: RuleBook) -> list[int]:
    """Fleets of POND that have one hit on A1 and A2, by hand: told as a number, or as A1."""
    fleets = [ships[0] | ships[1] for ships in layouts(chart(book))]
    if book.announce is Announce.COUNT:
        return [fleet for fleet in fleets if (fleet & 0b11).bit_count() == 1]
    return [fleet for fleet in fleets if fleet & 0b11 == 0b01]


@pytest.mark.parametrize("announce", [Announce.COUNT, Announce.EACH_SHOT])
def test_expectations_are_those_of_all_fleets_counted_one_by_one(announce: Announce) -> None:
    book = replace(POND, announce=announce)
    view = view_of(book)
    fire(view, 1, shots_at([0, 1]), [True, False])
    explained = fire(view, 3, shots_at([4, 15]), [True, False])
    fleets = _agreeing(book)
    assert 20 < len(fleets) < 400
    share = [sum(fleet >> cell & 1 for fleet in fleets) / len(fleets) for cell in range(16)]
    assert explained.maps["you"].chances == pytest.approx(share, abs=0.03)
    assert [each.chance for each in explained.shots] == pytest.approx([share[4], share[15]], abs=0.03)
    assert explained.expected.value == pytest.approx(share[4] + share[15], abs=0.04)
    best = max(share[one] + share[other] for one, other in combinations(range(2, 16), 2))
    assert explained.best_expected == pytest.approx(best, abs=0.04)
    assert explained.loss.value == pytest.approx(best - share[4] - share[15], abs=0.05)
    mask = 1 << 4 | 1 << 15
    hits = Counter((fleet & mask).bit_count() for fleet in fleets)
    mean = share[4] + share[15]
    variance = sum(many * (number - mean) ** 2 for number, many in hits.items()) / len(fleets)
    assert explained.spread == pytest.approx(variance**0.5, abs=0.03)
    assert explained.exact
    assert explained.hits == 1


# --- whole games --------------------------------------------------------------------------------------------------


class Explained(Bot):
    """Explains its own game; here it fires whatever is best."""

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self.explained: list[Explanation] = []
        self._chooses, self._judges = Explainer("one", 1000), Explainer("other", 1000)

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        self._outlook: Outlook = self._judges.look(view)
        self._shots = self.choose(view)
        return self._shots

    def choose(self, view: View) -> list[Shot]:
        return [each.at for each in self._chooses.look(view).best()]

    def on_result(self, result: SalvoResolved) -> None:
        if result.player == self.name:
            shots = self._shots[: result.shots]
            self.explained.append(self._outlook.judge(shots, result, over=len(shots) < len(self._shots)))


class Aimless(Explained):
    """Fires anywhere."""

    def choose(self, view: View) -> list[Shot]:
        return view.untouched.sample(view.shots)


@pytest.mark.parametrize("announce", list(Announce))
def test_the_best_shots_have_full_skill_and_random_ones_have_none(announce: Announce) -> None:
    book = replace(POOL, announce=announce)
    explained: dict[type[Explained], list[Explanation]] = {Explained: [], Aimless: []}
    for game, (kind, each) in enumerate([(kind, each) for kind in explained for each in range(2)], start=1):
        bot = kind()
        arena.play({"it": bot, "other": RandomBot()}, seed=each, game=game, book=book)
        explained[kind] += bot.explained
    best, aimless = account(explained[Explained]), account(explained[Aimless])
    assert best.skill.error < 0.02
    assert best.skill.value == pytest.approx(1, abs=3 * best.skill.error + 0.01)
    assert aimless.skill.value < 0.85
    for found in (best, aimless):
        assert abs(found.luck.value) < 3 * found.spread
        assert found.luck.value == pytest.approx(found.hits - found.expected)
