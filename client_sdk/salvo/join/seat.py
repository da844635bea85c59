"""A team's seat at a table: its session, its connection to the broker, and the server's pinned key.

Bots, people and gateways all join this way, and then play through :class:`salvo.join.team.TeamSession`.
"""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from salvo.errors import ConnectionLost
from salvo.join.fairness.known_servers import KnownServers
from salvo.join.fairness.proof import Proof
from salvo.join.fairness.proof_connection import ProofConnection
from salvo.join.session import Session
from salvo.messages import SeatGiven, ServerKeys
from salvo.net.mqtt import BrokerUrl
from salvo.wire.topics import check_name

_ENCRYPTED: Final = ("mqtts", "wss")


class Seat:
    """What a team needs to take part; close it when the team has left.

    Attributes:
        session: the team's session, which has not asked to take part yet.
        connection: the team's connection, made when it is first polled; another one at another broker.
        secret: the team's secret, given or randomly generated.
        elsewhere: :meth:`at`, to follow the seats that a host gives; None where a table was chosen (SALVO-SEAT-2).
    """

    def __init__(
        self,
        url: str,
        team: str,
        secret: str | None,
        random: Random,
        *,
        table: str = "",
        username: str | None = None,
        password: str | None = None,
        ca: str | None = None,
        pin: bool = True,
        proof: Path | None = None,
        client: str = "salvo",
    ) -> None:
        """Prepare everything; nothing is sent yet.

        Args:
            url: where the broker is, ``mqtt://HOST:PORT``.
            secret: the team's secret; anyone who has it can play as the team. None generates one, for a server that
                admits everyone.
            random: see :class:`~salvo.join.session.Session`.
            username: for the broker; by default the one in the URL, else the team's name, which a contest's broker
                requires. An open broker ignores it.
            password: for the broker; by default the one in the URL, which never is the team's secret, else the secret.
            ca: for ``mqtts://``, a PEM file with the CA that signed the broker's certificate; see
                :class:`~salvo.net.mqtt.Connection`.
            pin: whether to remember the server's key, and to refuse a different one at the same address later.
            proof: a file that records the server's log and what the team sends, for ``salvo verify`` (SALVO-LOG-10);
                an existing file is appended to.
            client: prefix of the client id, before the team's name. On an open broker, two clients with the same id
                take over each other's connection.

        Raises:
            WireError: ``bad_name``.
            ConnectionLost: ``bad_url``.
        """
        broker = BrokerUrl.parse(url)
        check_name(team)
        if table:
            check_name(table, "table")
        recorder = Proof(proof) if proof is not None else None
        if secret is None and broker.password is not None:  # it would open the broker, and not the contest
            text = (
                f"an address takes no team's secret: give {broker}, the name in SALVO_TEAM, the secret in SALVO_SECRET"
            )
            raise ConnectionLost("bad_url", text)
        if username is None and broker.password is None and secret is not None:
            username, password = broker.username or team, secret
        self.secret = secret or secrets.token_urlsafe(16)
        self._known_servers = KnownServers.of_user() if pin else None
        self._team, self._random, self._proof = team, random, recorder
        client_id = f"{client}-{team}" + (f"-{table}" if table else "")
        self._connect = partial(
            ProofConnection, client_id=client_id, clean_session=True, username=username, password=password, ca=ca
        )
        self.connection = self._connect(broker)
        self.elsewhere = None if table else self.at
        self.at(SeatGiven(table))

    def meet(self, keys: ServerKeys | None) -> None:
        """Pin the server's key on the first connection, and compare it on later ones.

        Raises:
            ImpostorError: ``server_changed``: it differs from the pinned one.
        """
        if self._known_servers is not None:
            self._known_servers.meet(self.connection.url.address, keys.sign if keys is not None else None)

    def at(self, place: SeatGiven) -> tuple[Session, ProofConnection]:
        """Return a session of the same player at another table, where a proof is recorded from now on.

        Its connection is the one of before unless the place is at another broker; there the team has the same name and
        secret.

        Raises:
            ConnectionLost: ``bad_url``; ``tls_wanted``: a secret that has only travelled encrypted so far would not.
        """
        here = self.connection.url
        there = BrokerUrl.parse(place.broker or str(here))._replace(username=here.username, password=here.password)
        if here.scheme in _ENCRYPTED and there.scheme not in _ENCRYPTED:
            raise ConnectionLost("tls_wanted", f"{there} is not encrypted, as {here} is: no secret is sent there")
        if there.address != here.address:
            self.connection.close()
            self.connection = self._connect(there)
        known = self._known_servers is not None and self._known_servers.key_of(there.address) is not None
        self.session = Session(self._team, self.secret, self._random, table=place.table, always_seal=known)
        if self._proof is not None:
            self.connection.record(self._proof, place.table, self._team)
        return self.session, self.connection

    def close(self) -> None:
        """Disconnect from the broker."""
        self.connection.close()
