"""Carries a bot client's messages: over TCP, or on this process's standard streams."""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.bots.programs.process import answers_apart
from salvo.errors import SalvoError
from salvo.join.client import GameReport
from salvo.rules import own_seed
from salvo_gateways.bot_clients import BotClient, TryLater
from salvo_gateways.bot_clients.jsonline import JsonBotClient
from salvo_gateways.bot_clients.smackdown import SmackdownBotClient
from salvo_gateways.bot_clients.xbs import XbsBotClient
from salvo_gateways.errors import GatewayError
from salvo_gateways.jsonline.protocol_text import Dialect, Values
from salvo_gateways.peer import Framing, Lines, PeerBroken
from salvo_server.brokers.embedded.addresses import BrokerError, split_address

log = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 10.0
_AGAIN_SECONDS: Final = 1.0
#: Times that a server may be missing that has ended at a shot, before it counts as ended by that.
_MISSED_AFTER_A_SHOT: Final = 5
#: For what a server sends when the game is over, as some send nothing.
_END_SECONDS: Final = 5.0
_READ_BYTES: Final = 65_536


def play(
    url: str, bot: Bot | Adapter, name: str, _: Sequence[str], seed: str, games: int | None
) -> Iterator[GameReport]:
    """Play games on a server of an older system, and come back after a lost connection.

    Args:
        url: ``xbs://HOST:PORT``, ``jsonline://HOST:PORT`` or ``jsonline://HOST:PORT?cells=xy``.
        seed: of all games; each has one of its own.
        games: how many; None for no limit.

    Yields:
        How each game ended.

    Raises:
        BrokerError: ``bad_address``.
        GatewayError: what :meth:`~salvo_gateways.bot_clients.BotClient.receive` raises; ``refused_there`` also for a
            JSON-lines server that the first shot ends, however it is written.
    """
    scheme, _, rest = url.partition(":")
    where, _, query = rest.strip("/").partition("?")
    xbs = scheme == "xbs"
    if query not in ("", *(f"cells={dialect}" for dialect in Dialect if not xbs)):
        raise BrokerError(
            "bad_address", f"?{query[:40]}: after jsonline://HOST:PORT there may be ?cells=xy or ?cells=text"
        )
    cells = Dialect(query.removeprefix("cells=") or Dialect.TEXT)
    address, number, fault = split_address(where, least_port=1), 0, ""
    last: JsonBotClient | None = None
    missed = 0
    while games is None or number < games:
        game_seed = own_seed(seed, name, number + 1)
        client = XbsBotClient(bot, name, game_seed) if xbs else JsonBotClient(bot, name, game_seed, last, cells=cells)
        try:
            with socket.create_connection(address, _CONNECT_SECONDS) as line:
                fault, missed = "", 0
                line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                _carry(client, line, Lines() if xbs else Values())
            why = f"{url} closed the connection"
        except TryLater as error:
            why = f"{url}: {error.text}"
        except OSError as error:
            why = f"cannot reach {url} ({error.strerror or error})"
            missed += 1
        except SalvoError as error:
            if not client.over:
                raise
            why = f"{url}: {error.text}"
        client.cut_off()
        if isinstance(client, JsonBotClient):
            lessons = client.lessons()
            last = lessons or last
            if last is not None and last.is_hung_up_on:
                if missed >= _MISSED_AFTER_A_SHOT or last.has_tried_all:
                    raise GatewayError("refused_there", f"{why}; {last.advice(where)}")
                if lessons is not None:
                    why += f" at the first shot, which is written as with ?cells={last.dialect} now"
        if client.report is not None:
            number += 1
            yield replace(client.report, game=number)
            continue
        if why != fault:
            log.warning("%s; trying again every second", why)
            fault = why
        time.sleep(_AGAIN_SECONDS)


def _carry(client: BotClient, line: socket.socket, framing: Framing) -> None:
    """Hand messages back and forth until the game or the connection ends."""
    _send(line, client.begin())
    while client.report is None:
        line.settimeout(_END_SECONDS if client.over else None)  # a turn of a person's may take minutes
        data = line.recv(_READ_BYTES)
        if not data:
            return
        for message in framing.feed(data):
            if isinstance(message, PeerBroken):
                raise GatewayError("refused_there", f"the server sends what is not a message: {message.text}")
            if message.strip() and client.report is None:
                _send(line, client.receive(message.decode(errors="replace")))


def _send(line: socket.socket, messages: Sequence[str]) -> None:
    text = "".join(f"{message}\n" for message in messages)
    if text:
        line.sendall(text.encode())


def play_on_streams(
    _: str, bot: Bot | Adapter, name: str, names: Sequence[str], seed: str, __: int | None = None
) -> Iterator[GameReport]:
    """Play one game as a child process of a Code Smackdown referee; what the bot prints goes to standard error.

    Args:
        names: the bot's and its opponent's, where the referee has appended them.

    Returns:
        Nothing: standard output is the referee's.
    """
    name, opponent = names or (name, "opponent")
    client = SmackdownBotClient(bot, name, opponent, own_seed(seed, name, 1))
    with answers_apart() as out:
        for line in sys.stdin:
            for answer in client.receive(line):
                out.write(f"{answer}\n".encode())
                out.flush()
            if client.report is not None:
                break
    client.cut_off()
    return iter(())
