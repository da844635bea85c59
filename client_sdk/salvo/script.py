"""``salvo.run``, the last line of a bot's file: it does nothing where a command plays the bot.

Every process of a simulation runs that line; so it loads neither MQTT nor cryptography, which take a quarter of a
second.
"""

from __future__ import annotations

import difflib
import importlib
import logging
import os
import sys
from typing import Final

from salvo.bots.player import Bot
from salvo.errors import SalvoError
from salvo.system.interruption import end_as_by_ctrl_c, exit_code
from salvo.system.streams import escape_unprintable, until_unread
from salvo.system.text_files import trim_variables

#: Plays where there is no contest; loaded by name, so that a bot in a contest needs nothing of it.
_LABORATORY: Final = "salvo_lab.local_game"

_ran = False

#: Options of ``salvo play`` that a person may give to the bot's own program, where they change nothing.
_NOT_OURS = ("-h", "--help", "--seed", "--games")


def remind() -> None:
    """Say, when a program ends that defines a bot and has never played it, how to."""
    global _ran
    bots = [
        name
        for name, value in vars(sys.modules["__main__"]).items()
        if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == "__main__"
    ]
    script = os.path.basename(sys.argv[0])
    plays = sys.modules.keys() & {"salvo_lab.arena", "salvo.join.client"}
    if (
        bots and script.endswith(".py") and not (_ran or plays or hasattr(sys, "last_value"))
    ):  # a traceback stands alone
        print(f"{script} defines a bot but never plays it; end it with salvo.run({bots[-1]})", file=sys.stderr)
    _ran = True


def run(bot: type[Bot]) -> None:
    """Play: in the contest that ``SALVO_URL`` names, else a local game against the hunter, which ``--watch`` shows.

    Does nothing in a bot's file that ``salvo join`` or ``salvo play`` has loaded, which play it themselves, or that a
    process of a bot's pool imports. Reads
    ``SALVO_URL``, ``SALVO_TEAM``, ``SALVO_SECRET``, ``SALVO_TABLE``, ``SALVO_GAMES``, ``SALVO_SEED`` and ``SALVO_CA``.
    Errors end the program with one line on standard error and exit code 1, Ctrl-C with 130,
    and SIGTERM, in a contest, with 143.
    """
    global _ran
    _ran = True
    from salvo.bots.file_loader import running

    caller = sys._getframe(1)
    in_a_pool = caller.f_code.co_name == "<module>" and caller.f_globals.get("__name__") == "__mp_main__"
    if in_a_pool or running() is not None:
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    escape_unprintable()
    trim_variables()
    try:
        _check(bot, sys.argv[1:])
        with until_unread():
            if os.environ.get("SALVO_URL"):
                end_as_by_ctrl_c()  # the team leaves the lobby before the process ends
                _run_contest(bot)
            else:
                _run_local(bot)
    except SalvoError as error:
        again = getattr(error, "again", "")
        more = f"\nthe same game again: {again}" if again else ""
        raise SystemExit(f"{getattr(error, 'trace', '')}error: {error}{more}") from error.__cause__
    except KeyboardInterrupt as end:
        raise SystemExit(exit_code(end)) from None


def _check(bot: object, arguments: list[str]) -> None:
    """Say what is wrong with the arguments of ``run`` and of the program, if anything is."""
    if not isinstance(bot, type):
        if isinstance(bot, Bot):
            name = type(bot).__name__
            raise SalvoError(
                "bad_bot", f"salvo.run takes the bot itself, salvo.run({name}), without parentheses after it"
            )
        name = getattr(bot, "__name__", "")
        write = f"write @salvo.bot above def {name}(view)" if name else "give a class derived from salvo.Bot"
        raise SalvoError("bad_bot", f"salvo.run: {name or repr(bot)[:40]} is not a bot; {write}")
    for argument in arguments:
        option = argument.partition("=")[0]
        if option != "--watch" and (option in _NOT_OURS or difflib.get_close_matches(option, ["--watch"])):
            print(
                f"{option} does nothing here: the option is --watch; salvo play has more, SALVO_SEED sets the seed",
                file=sys.stderr,
            )


def _run_contest(bot: type[Bot]) -> None:
    from salvo.bots.adapter import closing, made
    from salvo.bots.sources import name_here
    from salvo.join.client import play

    env = os.environ
    if "--watch" in sys.argv[1:]:
        raise SalvoError("unused_option", "--watch does nothing in a contest; salvo watch URL shows it")
    team = env.get("SALVO_TEAM") or name_here(bot)
    secret = env.get("SALVO_SECRET") or None
    with closing(made(bot), team) as player:
        reports = play(
            player,
            env["SALVO_URL"],
            team,
            secret,
            table=env.get("SALVO_TABLE", ""),
            games=_games(env.get("SALVO_GAMES", "")),
            seed=env.get("SALVO_SEED"),
            strict=False,
        )
    for report in reports:
        print(report.line(team))


def _games(given: str) -> int | None:
    if not given:
        return None
    if not given.isascii() or not given.isdecimal() or int(given[:9]) < 1:
        cure = "give a whole number from 1 on, or leave it out to play on"
        raise SalvoError("bad_setting", f"SALVO_GAMES is {given[:40]!r}: {cure}")
    return int(given)


def _run_local(bot: type[Bot]) -> None:
    importlib.import_module(_LABORATORY).play_here(bot, watch="--watch" in sys.argv[1:])
