"""``salvo.run``, the last line of a bot's file: it does nothing while a command plays the bot.

Every process of a simulation runs that line; so it loads neither MQTT nor cryptography, which take a quarter of a
second.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys

from salvo.errors import SalvoError
from salvo.lab.sources import is_loading, team_name
from salvo.player import Bot


def run(bot: type[Bot]) -> None:
    """Play: in the contest that ``SALVO_URL`` names, else a local game against the hunter.

    Does nothing while ``salvo join`` or ``salvo play`` reads the bot's file: they play it themselves. Reads
    ``SALVO_URL``, ``SALVO_TEAM``, ``SALVO_SECRET``, ``SALVO_TABLE``, ``SALVO_GAMES``, ``SALVO_SEED`` and ``SALVO_CA``.
    Errors end the program with one line on standard error and exit code 1, Ctrl-C with 130.
    """
    if is_loading():
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        if os.environ.get("SALVO_URL"):
            _run_contest(bot)
        else:
            _run_local(bot)
    except SalvoError as error:
        raise SystemExit(f"{getattr(error, 'trace', '')}error: {error}") from error.__cause__
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _run_contest(bot: type[Bot]) -> None:
    from salvo.client import play

    env = os.environ
    team = env.get("SALVO_TEAM") or team_name(sys.argv[0])
    secret = env.get("SALVO_SECRET") or None
    games = env.get("SALVO_GAMES")
    reports = play(
        bot(),
        env["SALVO_URL"],
        team,
        secret,
        table=env.get("SALVO_TABLE", ""),
        games=int(games) if games else None,
        seed=env.get("SALVO_SEED"),
        strict=False,
    )
    for report in reports:
        print(f"game {report.game}: {report.winner or 'nobody alone'} wins, {team} is number {report.place}")


def _run_local(bot: type[Bot]) -> None:
    from salvo.lab import arena
    from salvo.lab.bots.hunter import Hunter

    seed = os.environ.get("SALVO_SEED") or secrets.token_hex(16)
    name = team_name(sys.argv[0])
    name = name if name != "hunter" else "team-hunter"
    outcome = arena.play({name: bot(), "hunter": Hunter()}, seed=seed)
    print(f"{outcome.winner} wins after {outcome.turns} salvos; seed {seed}")
    print(f"the same game again: SALVO_SEED={seed} and the same command")
