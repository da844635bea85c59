"""``salvo join``."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from salvo.bots.adapter import closing
from salvo.bots.player import Bot
from salvo.bots.programs.exec_bot import ExecBot
from salvo.bots.sources import make, team_name
from salvo.cli.checked import refuse_unused, refuse_unused_ca
from salvo.cli.options import CA, URL, json_option
from salvo.cli.output import Integer, ask_secret, end_with_input, given_secret, may_ask
from salvo.errors import SalvoError
from salvo.gateway import Gateway
from salvo.join.client import ContestPlayer, GameReport, secret_teller
from salvo.join.client import play as play_contest
from salvo.join.events import Event, ServerMet
from salvo.join.seat import Seat
from salvo.net.mqtt import BrokerUrl
from salvo.rules import generator
from salvo.system import plugins

_NO_GATEWAY: Final = Gateway("", "")
#: What a Code Smackdown referee appends: the bot's name and its opponent's.
_NAMES_OF_A_CHILD: Final = 2


def _gateway(url: str) -> Gateway:
    """Return the older system that a URL names; one without servers where it names none."""
    scheme = url.partition(":")[0]
    if scheme not in plugins.found(plugins.GATEWAYS):
        return _NO_GATEWAY
    found: Gateway = plugins.load(plugins.GATEWAYS, scheme, Gateway)
    return found


def _is_a_person(bot: object) -> bool:
    """Whether it is not a bot, but somebody who plays in its place."""
    return bot in plugins.found(plugins.PLAYERS)


@click.command()
@click.argument("url", type=URL)
@click.argument("bot")
@click.argument("names", nargs=-1, metavar="[OWN OPPONENT]")
@click.option("--team", envvar="SALVO_TEAM", help="The team's name.  [default: the URL's user, else the file's]")
@click.option(
    "--table",
    envvar="SALVO_TABLE",
    default="",
    show_default=False,
    help="Name of the table.  [default: where a host gives the team a seat, else the default table]",
)
@CA
@click.option("--games", type=Integer(min=1), help="End after this many games.  [default: no limit]")
@click.option(
    "--seed", help="Seed of the bot's random choices, fleets included: keep it secret. 128 random bits by default."
)
@click.option(
    "--proof",
    type=click.Path(path_type=Path),
    help="Write the server's signed log and what the team sends here, for salvo verify; an existing file is continued.",
)
@click.option("--strict", is_flag=True, help="End when the bot fails, instead of losing the turn.")
@click.option("--browser", is_flag=True, help="Play by clicking: print the address of a page, and open it.")
@json_option("One JSON line per game.")
def join(
    url: str,
    bot: str,
    names: tuple[str, ...],
    team: str | None,
    table: str,
    ca: str | None,
    games: int | None,
    seed: str | None,
    proof: Path | None,
    strict: bool,
    browser: bool,
    as_json: bool,
) -> None:
    """Play BOT (a file.py, file.py:Name, file.js, exec:CMD, a built-in bot, or human: you) in the contest at URL.

    It reconnects after a lost connection. CMD is a program in any language, which reads JSON lines and answers with
    them.

    The team's secret is in SALVO_SECRET, or in a file that SALVO_SECRET_FILE names; at a terminal, the command asks for
    it if the server needs it. On an open server (profile open) a team without a secret gets a random one, which is
    shown.

    With xbs://HOST:PORT or jsonline://HOST:PORT, the bot plays on a server of that older system; add ?cells=xy for a
    JSON-lines server that fails at cells written as row and column. With smackdown: it plays on standard streams, as a
    child process of a Code Smackdown referee, which appends both names.
    """
    refuse_unused_ca(url)
    for option in ("table", "proof", "strict") if _gateway(url).bot_client else ():
        refuse_unused(option, "on a server of an older system; leave it out")
    if _is_a_person(bot):
        refuse_unused("strict", "for a person, who does not fail; leave it out")
    else:
        refuse_unused("browser", "for a bot; leave it out")
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("salvo").setLevel(logging.INFO)
    end_with_input()
    if names and not (len(names) == _NAMES_OF_A_CHILD and _gateway(url).appends_names):
        raise click.UsageError(f"one bot plays; leave out {names[0]!r}")
    if _gateway(url).bot_client:
        _play_elsewhere(url, bot, names, team, games, seed, as_json)
        return
    person: ContestPlayer | None = plugins.load(plugins.PLAYERS, bot, object) if _is_a_person(bot) else None
    if person is not None:
        person.check(browser=browser)
    team = team or BrokerUrl.parse(url).username or team_name(bot)
    seat: dict[str, Any] = {"table": table, "ca": ca, "proof": proof}

    def play(secret: str | None) -> list[GameReport]:
        if person is not None:
            return _play_yourself(person, url, team, secret, games, seed, browser=browser, **seat)
        own = {"games": games, "seed": seed, "listener": _warn_open}
        return _play_bot(make(bot), url, team, secret, strict=strict, **seat, **own)

    for report in _with_secret(play, url, team, given_secret()):
        _print(report, team, as_json)


def _with_secret(
    play: Callable[[str | None], list[GameReport]], url: str, team: str, secret: str | None
) -> list[GameReport]:
    """Play; where the contest wants a secret, and none was given, ask the person at the terminal."""
    try:
        return play(secret)
    except SalvoError as error:
        if secret is not None or error.code not in ("secret_wanted", "not_authorised") or not may_ask():
            raise
    return play(ask_secret(team))


def _print(report: GameReport, team: str, as_json: bool) -> None:
    if as_json:
        record = {"game": report.game, "winner": report.winner, "place": report.place}
        click.echo(json.dumps(record | ({"aborted": True} if report.aborted else {})))
    else:
        click.echo(report.line(team))


def _play_elsewhere(
    url: str, bot: str, names: tuple[str, ...], team: str | None, games: int | None, seed: str | None, as_json: bool
) -> None:
    """Play on a server of an older system."""
    if _is_a_person(bot):
        raise click.UsageError(f"{bot} plays in contests only; name a bot")
    play = plugins.imported(_gateway(url).bot_client)
    seed = secrets.token_hex(16) if seed is None else seed
    team = team or team_name(bot)
    with closing(make(bot), team) as player:
        for report in play(url, player, team, names, seed, games):
            _print(report, team, as_json)


def _warn_open(event: Event) -> None:
    """Say that a wrong secret goes unnoticed."""
    if isinstance(event, ServerMet) and event.profile == "open":
        logging.getLogger("salvo.join.client").info("open server: secrets are not checked against a roster")


def _play_bot(bot: Bot, url: str, team: str, *where: Any, strict: bool, **seat: Any) -> list[GameReport]:
    if isinstance(bot, ExecBot):
        bot.strict, bot.most_lines = strict, None  # a contest cannot be played again
    with closing(bot, team) as player:
        return play_contest(player, url, team, *where, strict=strict, **seat)


def _play_yourself(
    person: ContestPlayer,
    url: str,
    team: str,
    secret: str | None,
    games: int | None,
    seed: str | None,
    *,
    browser: bool,
    **seat: Any,
) -> list[GameReport]:
    random = generator(secrets.token_hex(16) if seed is None else seed, team)
    place = Seat(url, team, secret, random, **seat)
    listener = secret_teller(team, place.secret) if secret is None else None
    return person.play(place, random, games, listener, browser=browser)
