"""Who begins a game: as the ruleset says, or drawn (SALVO-TURN-1, SALVO-LOG-8). Who is next is in :mod:`.game`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from salvo.rules.book import RuleBook, Starter


def set_starter(book: RuleBook, game: int, names: Sequence[str]) -> int | None:
    """Return the seat that begins a game where that is not drawn; None where it is.

    Players alternate in the order of their names: the order in which they came may be another one in every game, and
    then one of them might begin twice (SALVO-BOOK-10).

    Args:
        game: its running number at the table, from 1.
        names: by seat.
    """
    if book.starter is Starter.FIRST:
        return 0
    if book.starter is Starter.ALTERNATING:
        in_turn = sorted(names, key=lambda name: (name.lower(), name))
        return names.index(in_turn[(game - 1) % len(names)])
    return None


def draw_starter(book: RuleBook, seed: int | str, table: str, game: int, players: int) -> int:
    """Return the seat that begins a game, drawn from the table's seed and the game's number (SALVO-TURN-1)."""
    if book.starter is Starter.FIRST:
        return 0
    digest = hashlib.blake2b(f"{seed}/{table}/starter/{game}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % players


def draw_fair_starter(book: RuleBook, secret: bytes, messages: Sequence[bytes], players: int) -> int:
    """Return the seat that begins a game, drawn from the server's secret and all teams' messages (SALVO-LOG-8).

    The server committed to its secret before it saw any message, and no team knows the secret while it writes its
    messages, which have random bytes in them: neither can choose what is drawn. A team that the server tells its
    secret can.

    Args:
        secret: of this game, at most 64 bytes.
        messages: digests of the placements in force, fleet by fleet in play order, in a fleet as the ruleset has
            its ships.
    """
    if book.starter is Starter.FIRST:
        return 0
    digest = hashlib.blake2b(b"salvo start" + b"".join(messages), digest_size=32, key=secret).digest()
    return int.from_bytes(digest, "big") % players
