"""A game as an environment of PettingZoo, for programs that learn: agents in turn, for two or more players.

    from salvo_lab.environment import env

    game = env(rules="standard", players=2)
    game.reset(seed=1)
    for agent in game.agent_iter():
        observation, reward, terminated, truncated, _ = game.last()
        over = terminated or truncated
        game.step(None if over else game.action_space(agent).sample(observation["action_mask"]))

One step is one shot; a turn of several shots is as many steps of one agent. Fleets are drawn. Needs the extra ``rl``.
"""

from __future__ import annotations

from functools import partial
from operator import index
from random import Random, SystemRandom
from typing import Any, Final

from salvo.errors import BotError, MissingExtra, shown
from salvo.rules import Announce, RuleBook, Sinkings, generator, own_seed
from salvo.rules.files import load_book
from salvo.rules.game import Game, begin
from salvo.rules.starter import draw_starter, set_starter
from salvo.view import Feed, Shot, View, board_shots
from salvo_lab.arena import EMPTY_TURNS, MatchRecord

try:
    import numpy as np
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError:
    raise MissingExtra("a learning environment", "rl") from None

#: Planes of a board of an observation.
PLANES: Final = 3
#: Games are drawn from this many seeds where none is given.
_SEEDS: Final = 2**32


def env(rules: str | RuleBook = "standard", players: int = 2, render_mode: str | None = None) -> Any:
    """Return a :class:`Battleship` in which an illegal action ends the game with the reward -1.

    Args:
        rules: a ruleset, its name or its file.
        players: 2 or more.
        render_mode: ``ansi``: ``render()`` returns the boards of the agent to move as text; ``human``: it prints them.

    Raises:
        RuleFileError: there is no such ruleset.
        BotError: ``too_few_players``.
    """
    return wrappers.OrderEnforcingWrapper(_IllegalEndsGame(Battleship(rules, players, render_mode), -1))


class _IllegalEndsGame(wrappers.TerminateIllegalWrapper):  # type: ignore[misc]
    """Takes what is not an action for an illegal one: PettingZoo looks up in the mask whatever it gets."""

    def step(self, action: Any) -> None:
        game, agent = self.env.unwrapped, self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            number = game.legal(agent, action)
            action = int(game.observe(agent)["action_mask"].argmin()) if number is None else number
        super().step(action)


class Battleship(AECEnv):  # type: ignore[misc]
    """One game after another of the players ``player_0``, ``player_1`` ...

    An *observation* is a dict:

    - ``observation``: float32 of the shape (3 x players + 1, height, width), each value from 0 to 1. Three planes a
      board, the opponents' in the order of seats after the agent's, then its own: cells that were shot at, as far as
      the agent knows; the chance that a cell was a hit, which is the share of hits of its salvo where the rules
      announce only their number (on the own board: 1 for each cell of a ship); the share of ships afloat. The last
      plane is the shots left in this turn, as a share of the longest salvo.
    - ``action_mask``: int8, 1 for each legal action.

    An *action* is the number of a cell of an opponent's board: boards in the order of the planes, cells row by row. The
    last action fires nothing and ends the turn; it is legal only where no cell is left to shoot at.

    A *reward* comes at the end: 1 for the winner and -1 / (players - 1) for each of the others. Those who win together
    share what the others lose, and a tie of all is 0.
    """

    def __init__(self, rules: str | RuleBook = "standard", players: int = 2, render_mode: str | None = None) -> None:
        """Prepare a table; :meth:`reset` begins a game. For arguments and errors, see :func:`env`."""
        super().__init__()
        if players < 2:
            raise BotError("too_few_players", f"{players} players; a game has two or more")
        self.metadata = {"name": "battleship_salvo", "render_modes": ["ansi", "human"], "is_parallelizable": False}
        self.render_mode = render_mode
        self.rules = load_book(rules) if isinstance(rules, str) else rules
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        grid = self.rules.grid
        count = (players - 1) * grid.size + 1
        planes = (PLANES * players + 1, grid.height, grid.width)
        self.action_spaces = {agent: spaces.Discrete(count) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, planes, np.float32),
                    "action_mask": spaces.Box(0, 1, (count,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._actions = {agent: self._actions_of(agent) for agent in self.possible_agents}
        self._seeds: Random = SystemRandom()
        self._game: Game
        self._chronicle: MatchRecord
        self._views: dict[str, View]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of :meth:`observe`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of what :meth:`step` takes."""
        return self.action_spaces[agent]

    def view(self, agent: str) -> View:
        """Return what an agent knows, as a bot gets it: ``shot_of`` and ``action_of`` translate, so bots can play."""
        return self._views[agent]

    def shot_of(self, agent: str, action: int) -> Shot | None:
        """Return the shot that an action is; None for the last one."""
        actions = self._actions[agent]
        return actions[action] if action < len(actions) else None

    def action_of(self, agent: str, shot: Shot) -> int:
        """Return the action that a shot at an opponent is.

        Raises:
            ValueError: it is at another board.
        """
        return self._actions[agent].index(shot)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: decides all that is drawn, in this game and in those begun without a seed after it.
            options: not used.
        """
        if seed is not None:
            self._seeds = Random(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._begin(self._seeds.randrange(_SEEDS))

    def _begin(self, seed: int) -> None:
        rules, names = self.rules, tuple(self.possible_agents)
        randoms = [generator(own_seed(seed, name, 1)) for name in names]
        fleets = [rules.random_fleet(random) for random in randoms]
        starter = set_starter(rules, 1, names)
        if starter is None:
            starter = draw_starter(rules, seed, "", 1, len(names))
        self._game = begin(rules, fleets, starter)
        self._chronicle = MatchRecord(1, names, self._game)
        self._views = {
            name: View(rules, name, names, 1, fleet, random, partial(self._chronicle.news, name))
            for name, fleet, random in zip(names, fleets, randoms, strict=True)
        }
        self._fired: list[tuple[int, int]] = []
        self._silent = [0] * len(names)
        self._pass_turn()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an observation; no action is legal for an agent whose turn it is not."""
        view, grid = self._views[agent], self.rules.grid
        boards = [*self._opponents(agent), agent]
        planes = np.zeros((PLANES * len(boards) + 1, grid.height, grid.width), np.float32)
        for number, board in enumerate(boards):
            shot_at, ship, afloat = planes[PLANES * number : PLANES * (number + 1)]
            for (x, y), chance in _known(view, board).items():
                shot_at[y - 1, x - 1] = 1
                ship[y - 1, x - 1] = chance
            afloat[:] = _share_afloat(view, board)
        for cell in view.fleet.cells:
            x, y = grid.xy(cell)
            planes[-PLANES, y - 1, x - 1] = 1
        planes[-1] = view.shots / self.rules.longest_salvo
        return {"observation": planes, "action_mask": self._mask(agent)}

    def legal(self, agent: str, action: object) -> int | None:
        """Return the number of an action, of any integer type, if an agent may choose it now."""
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            return None
        mask = self._mask(agent)
        return number if 0 <= number < len(mask) and mask[number] else None

    def step(self, action: object) -> None:
        """Fire one shot for the agent whose turn it is.

        Args:
            action: an integer of any type; None for an agent that is out.

        Raises:
            BotError: ``bad_salvo``: the action is not legal; nothing was changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self.legal(agent, action)
        if number is None:
            text = f"action {shown(action)} of {agent} is not legal now; action_mask has those that are"
            raise BotError("bad_salvo", text)
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        shot = self.shot_of(agent, number)
        if shot is not None:
            self._fire(agent, shot)
        if shot is None or not self._game.shots_left or self._game.over:
            self._end_turn(agent)
        self._pass_turn()
        self._accumulate_rewards()
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _fire(self, agent: str, shot: Shot) -> None:
        aim = self.possible_agents.index(shot.player), self.rules.grid.cell(shot.x, shot.y)
        self._game.fire([aim])
        self._fired.append(aim)
        Feed(self._views[agent]).fired([shot])

    def _end_turn(self, agent: str) -> None:
        game, seat = self._game, self.possible_agents.index(agent)
        self._silent[seat] = 0 if self._fired else self._silent[seat] + 1
        if not self._fired:
            game.judge_silence(self._silent, EMPTY_TURNS)
        self._chronicle.last_aims, self._fired = self._fired, []
        game.end_turn()
        Feed(self._views[agent]).end_turn()

    def _pass_turn(self) -> None:
        """Give the turn to whose it is, and the rewards to those that are out."""
        game = self._game
        if game.over:
            self._reward_all()
        else:
            for seat in game.fallen:
                self._retire(self.possible_agents[seat], self._defeat)
            self.agent_selection = self.possible_agents[game.current]
            Feed(self._views[self.agent_selection]).begin_turn(game.turn, game.shots_left)

    @property
    def _defeat(self) -> float:
        return -1 / (len(self.possible_agents) - 1)

    def _reward_all(self) -> None:
        winners = self._game.winners
        losers = len(self.possible_agents) - len(winners)
        for seat, agent in enumerate(self.possible_agents):
            self._retire(agent, -self._defeat * losers / len(winners) if seat in winners else self._defeat)

    def _retire(self, agent: str, reward: float) -> None:
        if agent in self.agents and not self.terminations[agent]:
            self.terminations[agent] = True
            self.rewards[agent] = reward

    def render(self) -> str | None:
        """Return the boards of the agent to move, or print them, by ``render_mode``."""
        if self.render_mode is None:
            return None
        boards = str(self._views[self.agent_selection])
        if self.render_mode == "human":
            print(boards)
            return None
        return boards

    def _opponents(self, agent: str) -> list[str]:
        """Return the other agents in the order of seats after this one's."""
        seat = self.possible_agents.index(agent)
        return [*self.possible_agents[seat + 1 :], *self.possible_agents[:seat]]

    def _mask(self, agent: str) -> np.ndarray[Any, np.dtype[np.int8]]:
        actions = self._actions[agent]
        mask = np.zeros(len(actions) + 1, np.int8)
        view = self._views[agent]
        if agent == self.agent_selection and not self.terminations[agent]:
            opponents = set(view.opponents)  # reads the news, from which `untouched` follows
            legal = {shot for shot in view.untouched if shot.player in opponents}
            mask[:-1] = [shot in legal for shot in actions]
            mask[-1] = not mask.any()
        return mask

    def _actions_of(self, agent: str) -> tuple[Shot, ...]:
        return tuple(shot for other in self._opponents(agent) for shot in board_shots(other, self.rules.grid))


def _known(view: View, board: str) -> dict[tuple[int, int], float]:
    """Return the cells of a board that were shot at, as far as a player knows, with the chance that each was a hit."""
    known: dict[tuple[int, int], float] = {}
    if board == view.me or view.rules.announce is not Announce.COUNT:
        known.update(view.marks(board))
    else:
        for _, shots, result in view.salvos:
            known.update({(x, y): result.hits / result.shots for player, x, y in shots if player == board})
    pending = {(x, y): 0.0 for player, x, y in view.fired_this_turn if player == board}
    return pending | known


def _share_afloat(view: View, board: str) -> float:
    """Return which share of a player's ships is afloat; whether the player is not defeated where that is not public."""
    if board in view.defeated:
        return 0.0
    return 1.0 if view.rules.sinkings is Sinkings.UNTOLD else view.ships_afloat[board] / len(view.rules.fleet)
