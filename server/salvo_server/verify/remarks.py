"""What is not a fault, but worth knowing about a fair game."""

from __future__ import annotations

from salvo import messages as m
from salvo_server.verify.report import LoggedGame, ProofReport, Verdict


def remarks_on(report: ProofReport, game: LoggedGame) -> list[str]:
    """Return what an operator may do by the rules, and others may want to know."""
    annulled = [f"in {game} {each.who} annulled the result of game {each.game}" for each in game.annulled]
    if game.ended:
        return [*_struck_off(game), *_begun_anew(game), *annulled]
    if annulled:
        return annulled
    return [_not_begun(report, game)] if game.told and game.verdict is Verdict.NOT_BEGUN else []


def _struck_off(game: LoggedGame) -> list[str]:
    """Return the players that the operator removed: no rule forbids it, but it may change who begins."""
    struck = [step.command.name for step in game.told if isinstance(step.command, m.StruckOff)]
    names = ", ".join(dict.fromkeys(struck))
    return [f"before {game} began the operator struck off {names}"] if struck else []


def _begun_anew(game: LoggedGame) -> list[str]:
    """Return whose turns had more time than others: no rule forbids a server to have been away."""
    names = [each.player for each in game.said if isinstance(each, m.TurnResumed)]
    told = ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))
    text = f"in {game} the time of turns was restarted, as it is when server or broker were away: {told}"
    return [text] if names else []


def _not_begun(report: ProofReport, game: LoggedGame) -> str:
    """Report a lobby without a game: with its secret and some placements a server may foresee who begins."""
    text = f"{game} has not begun"
    placed = sum(bool(step.message) for step in game.told)
    later = any(other.opening.table == game.opening.table for other in report.games[report.games.index(game) + 1 :])
    if not later or not placed:
        return text
    return f"{text}: the server gave it up after {placed} placements and opened another one, with another secret"
