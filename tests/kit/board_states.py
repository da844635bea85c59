"""The state of a board in words."""

from __future__ import annotations

from dataclasses import replace

from salvo_game.lobby import Entrant, Lobby
from salvo_game.match import Team
from salvo_game.referee import Referee


def board_state(referee: Referee) -> str:
    """Everything that a refusal must leave as it was; how often it may still be answered is no part of the game."""
    stage, game = referee.stage, referee.game
    teams = [(team.credential, without_answers(team)) for team in referee.players.values()]
    order = [entrant.name for entrant in stage.complete] if isinstance(stage, Lobby) else []
    engine = [] if game is None else [getattr(game, slot) for slot in type(game).__slots__ if slot not in CONSTANT]
    when = referee.deadline(), referee.extensions, referee.awaits_delivery()
    removed = sorted(stage.removed if isinstance(stage, Lobby) else stage.match.removed)
    return repr((referee.state, referee.number, teams, order, referee.results, when, removed, engine))


def without_answers(team: Team) -> Team:
    if isinstance(team, Entrant):
        team = replace(team, answered={})
    return replace(team, answers=0, open_answers=0)


CONSTANT = ("fleets", "book")
