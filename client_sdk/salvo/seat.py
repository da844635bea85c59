"""A place at a contest's table: the session, the connection to its broker, and the server's known identity.

Bots, people and gateways all join this way; then they play through :class:`salvo.team.Team`.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from random import Random

from salvo.fairness.known_servers import KnownServers
from salvo.fairness.proof import Proof, ProofConnection
from salvo.messages import ServerKeys
from salvo.net.mqtt import BrokerUrl
from salvo.session import Session


class Seat:
    """What a team needs to take part; close it when it has left.

    Attributes:
        session: the team's, not connected yet.
        connection: the team's, which connects when it is polled.
        secret: the team's, given or drawn.
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
        """Prepare everything; nothing is sent yet. Deriving the key takes about 50 ms.

        Args:
            url: where the broker is, ``mqtt://HOST:PORT``.
            secret: the team's secret, with which anyone can play in its name. None draws one, for a server that lets
                everybody in.
            random: see :class:`~salvo.session.Session`.
            username: at the broker; by default the one in the URL, else the team's name, which a contest's broker
                requires. An open broker ignores it.
            password: likewise; else the secret.
            ca: for ``mqtts://``, a PEM file with the authority that vouches for the broker; see
                :class:`~salvo.net.mqtt.Connection`.
            pin: whether to remember the server's key, and to refuse another server at the same address later.
            proof: a file for the server's log and for what the team sends, for ``salvo verify`` (SALVO-LOG-10); an
                existing one is continued.
            client: prefix of the client id at an open broker, before the team's name; two clients with the same id take
                over each other's connection.

        Raises:
            WireError: ``bad_name``.
            ConnectionLost: ``bad_url``.
        """
        broker = BrokerUrl.parse(url)
        noted = Proof(proof) if proof is not None else None
        if username is None and broker.username is None and secret is not None:
            username, password = team, secret
        self.secret = secret or secrets.token_urlsafe(16)
        self._address = broker.address
        self._known = KnownServers.of_user() if pin else None
        always_seal = self._known is not None and self._known.key_of(broker.address) is not None
        self.session = Session(team, self.secret, random, table=table, always_seal=always_seal)
        client_id = f"{client}-{team}" + (f"-{table}" if table else "")
        self.connection = ProofConnection(
            broker, client_id, clean_session=True, username=username, password=password, ca=ca
        )
        if noted is not None:
            self.connection.record(noted, table, team)

    def meet(self, keys: ServerKeys | None) -> None:
        """Remember the server's identity.

        Raises:
            ImpostorError: ``server_changed``: it differs from the known one.
        """
        if self._known is not None:
            self._known.meet(self._address, keys.sign if keys is not None else None)

    def close(self) -> None:
        """Disconnect from the broker."""
        self.connection.close()
