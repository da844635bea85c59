"""The environment for programs that learn: PettingZoo's own tests, and the arena beside it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.rules import BOOKS
from salvo.view import Shot, View
from salvo_lab.arena import play
from salvo_lab.environment import Battleship, env

#: A whole salvo, one shot, shots as long as they hit, and with a skip.
_TABLES = [("salvo", 3), ("standard", 2), ("streak", 2), ("smackdown", 4)]


@pytest.mark.parametrize(("rules", "players"), _TABLES)
@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")  # it warns of every observation that is a dict
def test_an_environment_of_any_ruleset_passes_the_tests_of_pettingzoo(rules: str, players: int) -> None:
    api_test(env(rules, players), num_cycles=40)
    seed_test(lambda: env(rules, players), num_cycles=30)


class _InOrder(Bot):
    """Fires at the first cells that are left: its game depends on nothing drawn."""

    def choose_salvo(self, view: View) -> list[Shot]:
        return _next_shots(view)


def _next_shots(view: View) -> list[Shot]:
    opponents = view.opponents
    return [shot for shot in view.untouched if shot.player in opponents][: view.shots]


@pytest.mark.parametrize("rules", BOOKS)
def test_a_game_of_the_environment_is_that_of_the_arena(rules: str) -> None:
    game = Battleship(rules, players=3)
    game.reset(seed=7)
    first = game.agent_selection
    names = game.possible_agents
    fleets = {name: game.view(name).fleet for name in names}
    salvos: list[tuple[str, int, int]] = []
    rewards = dict.fromkeys(names, 0.0)
    for agent in game.agent_iter(2000):
        view = game.view(agent)
        _, reward, terminated, _, _ = game.last()
        rewards[agent] = reward
        shots = [] if terminated else _next_shots(view)
        game.step(
            None if terminated else game.action_of(agent, shots[0]) if shots else int(game.action_space(agent).n) - 1
        )
    outcome = play(
        {name: _InOrder() for name in names},
        seed=1,
        book=BOOKS[rules],
        fleets=fleets,
        starter=names.index(first),
        listener=lambda _, result: salvos.append((result.player, result.shots, result.hits)),
    )
    seen = [(result.player, result.shots, result.hits) for result in game.view(names[0]).results]
    assert seen == salvos
    assert sum(rewards.values()) == pytest.approx(0)
    assert {name for name, reward in rewards.items() if reward > 0} == {
        name for name in outcome.winners if len(outcome.winners) < len(names)
    }


def _fired_at_twice(game: Battleship) -> int:
    agent = game.agent_selection
    shot = _next_shots(game.view(agent))[0]
    action = game.action_of(agent, shot)
    game.step(action)
    if game.agent_selection != agent:
        game.step(0)
    return action


NO_ACTIONS = [10**9, -1, 101, 100, 1.5, "x", None, [1], np.array([1, 2])]


@pytest.mark.parametrize("illegal", [_fired_at_twice, *(lambda _, action=action: action for action in NO_ACTIONS)])
def test_an_illegal_action_is_refused_and_changes_nothing(illegal: Callable[[Battleship], Any]) -> None:
    game = Battleship("standard")
    game.reset(seed=1)
    action = illegal(game)
    before = game.observe(game.agent_selection)["observation"].copy(), game.agent_selection
    with pytest.raises(BotError, match=f"action {re.escape(repr(action))} of {game.agent_selection} is not legal now"):
        game.step(action)
    assert (game.observe(game.agent_selection)["observation"] == before[0]).all()
    assert game.agent_selection == before[1]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_what_is_no_action_ends_the_game_as_an_illegal_one_does(action: Any) -> None:
    game = env("standard")
    game.reset(seed=1)
    agent = game.agent_selection
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of an illegal move
        game.step(action)
    assert game.rewards[agent] == -1
    assert all(game.terminations.values())


@pytest.mark.parametrize("integer", [int, np.int64, np.uint8, np.array])
def test_an_action_may_be_an_integer_of_any_type(integer: Callable[[int], Any]) -> None:
    game = env("standard")
    game.reset(seed=1)
    agent = game.agent_selection
    game.step(integer(7))
    assert game.unwrapped.view(agent).results[0].shots == 1


def test_an_observation_has_no_more_than_the_rules_announce() -> None:
    game = Battleship("salvo")
    game.reset(seed=3)
    agent = game.agent_selection
    for action in range(5):
        game.step(action)
    view = game.view(agent)
    planes = game.observe(agent)["observation"]
    share = view.salvos[-1].result.hits / 5
    assert planes[0].sum() == 5
    assert planes[1, 0, :5].tolist() == pytest.approx([share] * 5)
    assert planes[1].sum() == pytest.approx(5 * share)
    assert planes[4].sum() == len(view.fleet.cells)
