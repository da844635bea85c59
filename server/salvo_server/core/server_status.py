"""The content of ``/game/server``: whether the server is online, the table's game, and the server's keys."""

from __future__ import annotations

from dataclasses import dataclass

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.system.distribution import __version__
from salvo.wire import topics
from salvo_game.log import ServerIdentity
from salvo_game.referee import Referee


@dataclass(frozen=True, slots=True)
class StatusWriter:
    """Writes the status of the tables of a server.

    Attributes:
        first_table: the one that the others refer to.
        identity: whose keys are published; None for a server without.
        chat: whether players may chat.
    """

    profile: str
    first_table: str
    identity: ServerIdentity | None
    chat: bool

    def __call__(self, referee: Referee, *, online: bool = True, paused: bool = False) -> m.ServerStatus:
        """Return the status of a table."""
        return m.ServerStatus(
            online,
            __version__,
            referee.number,
            self.profile,
            "" if referee.table == self.first_table else topics.SERVER.of(self.first_table),
            paused,
            _keys(self.identity),
            self.chat,
            players=referee.limits.players,
        )


def last_will(table: str, profile: str, identity: ServerIdentity | None = None) -> tuple[str, bytes]:
    """Return topic and payload of the last will: offline, with game 0, because the number by then is not known now.

    It has the keys, so that a team that joins meanwhile can still seal its secret.
    """
    status = m.ServerStatus(False, __version__, 0, profile, keys=_keys(identity))
    [publication] = write_announcement(status, table)
    return publication.topic, publication.payload


def _keys(identity: ServerIdentity | None) -> m.ServerKeys | None:
    return None if identity is None else m.ServerKeys(identity.signing_key, identity.sealing_key)
