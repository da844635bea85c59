"""What the tests of a session share: a team ``me`` in game 1, and what a scripted server sends it."""

from __future__ import annotations

from typing import Any, Final

from kit.scripted_server import ScriptedServer
from salvo import messages as m
from salvo.join.events import FleetWanted
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, Placement, generator, random_fleet
from salvo.wire.seal import Sealer

SEALER: Final = Sealer("secret", bytes(16))
FLEET: Final = random_fleet(SALVO, generator(1))


def listed(session: Session, server: ScriptedServer) -> None:
    """List the team in a lobby with ``you``, and place its fleet."""
    server.say(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.LOBBY), retained=True)
    session.connected()
    events = server.say(m.PlayersListed(("me", "you")))
    assert events == [FleetWanted(SALVO, 1)]
    session.place(FLEET, 0.0)


def my_turn(session: Session, server: ScriptedServer, turn: int = 1) -> list[object]:
    """Begin a turn of the team; return the events."""
    server.say(m.StateChanged(State.TURN))
    return list(server.begin_turn(turn, "me", 5))


def result(turn: int, player: str = "me", **given: Any) -> m.SalvoResolved:
    """Return the result of a salvo with one hit of five."""
    return m.SalvoResolved(1, turn, player, 5, 1, (), ())._replace(**given)


def recapped(
    game: int,
    turn: int,
    fleet: tuple[Placement, ...],
    shots: tuple[m.OwnShot, ...],
    landed: tuple[tuple[int, int], ...],
    results: tuple[m.SalvoResolved, ...],
    players: tuple[str, ...] = ("me", "you"),
) -> m.Recap:
    """Return a recap for the team."""
    return m.Recap("me", game, turn, fleet, shots, landed, results, players)


def recap() -> m.Recap:
    """Return the recap of turn 3, of whose five shots two are fired."""
    shots = tuple(
        m.OwnShot(turn, "you", x, turn) for turn in (1, 3) for x in ((1, 2, 3, 4, 5) if turn == 1 else (1, 2))
    )
    return recapped(1, 3, FLEET.placements, shots, ((9, 9),), (result(1), result(2, player="you")))


def asked(session: Session, server: ScriptedServer) -> list[str]:
    """Return the kinds of what the team has sent since it was looked at last."""
    return [type(c).__name__ for c in server.commands(SEALER)]


def sent_requests(session: Session) -> list[bytes]:
    """Return the requests to take part that the team has sent since it was looked at last."""
    return [p.payload for p in session.take_outbox() if p.topic == "/game/request_participation"]
