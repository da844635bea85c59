"""``salvo dev``."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import click

from salvo.errors import BotError, MissingExtra, SalvoError
from salvo.laboratory.again import again
from salvo.laboratory.arena import Failure
from salvo.laboratory.intervals import change_and_error, rate_and_error
from salvo.laboratory.simulation import TURN_SECONDS, Seats, simulate, stream
from salvo_server.cli.output import JOBS, SECONDS

#: Milliseconds without a further change until what an editor saves is taken for whole; it may write several times.
QUIET_MS = 50
#: Seconds between two looks whether the file was saved again while games are on.
LOOK_SECONDS = 0.2
_PLACE = re.compile(r" \([^()]+\.py, line (?P<line>\d+)\)$")


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the games after a save.

    Attributes:
        pairs: the bot's score of each pair of games, 0..1; a tie is half a win.
        failure: the first, which ended the games.
        error: why there were no games.
    """

    pairs: list[float]
    seconds: float
    failure: Failure | None = None
    error: SalvoError | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing went wrong."""
        return self.failure is None and self.error is None


@click.command()
@click.argument("bot")
@click.option("--against", default="hunter", help="The opponent: a file, or a house bot.")
@click.option("--games", type=click.IntRange(min=4), default=200, help="How many at every save, in pairs.")
@click.option("--rules", default="salvo", help="Rule book: a name, or a TOML file.")
@click.option("--seed", default="dev", help="Decides all games: the same at every save, so that changes show.")
@click.option("--jobs", type=JOBS, help="Processes to play in.  [default: all cores]")
@click.option(
    "--turn-seconds",
    type=SECONDS,
    default=TURN_SECONDS,
    help="How long a bot may think about a salvo.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line a save.")
def dev(
    bot: str, against: str, games: int, rules: str, seed: str, jobs: int | None, turn_seconds: float, as_json: bool
) -> None:
    """Play BOT, a file or file.py:Name, now and whenever a Python file of its folder is saved, until Ctrl-C.

    Each time the same games are played; the first mistake ends them and is shown with its line. +- is a 95 % interval.
    What bots print goes nowhere.
    """
    file = _file_of(bot)
    if not file.is_file():
        raise BotError("bad_bot", f"no file {file}; salvo dev plays a file whenever it is saved")
    last: list[float] | None = None
    _try_out(against, rules, turn_seconds)
    bench = _Bench(bot, against, games // 2 * 2, rules, seed, jobs, turn_seconds)
    try:
        for _ in _saves(file.parent):
            trial = bench.play()
            if trial is None:
                continue
            if as_json:
                click.echo(json.dumps(_record(trial, last, bench)))
            else:
                for line in _lines(trial, last, bench):
                    click.echo(line)
            if trial.is_whole:
                last = trial.pairs
    except KeyboardInterrupt:
        click.echo("", err=True)


def _try_out(against: str, rules: str, turn_seconds: float) -> None:
    """Make the opponent once, in a process of its own, since no save of the bot mends what is wrong with it.

    Raises:
        BotError: ``bad_bot``.
        SalvoError: ``bad_rules``.
    """
    tried = simulate([against, "random"], games=1, rules=rules, turn_seconds=turn_seconds)
    for failure in tried.failures:
        if failure.code == "bad_bot":
            raise BotError(failure.code, failure.text)


class _Bench:
    """Plays one bot again and again."""

    def __init__(
        self, bot: str, against: str, games: int, rules: str, seed: str, jobs: int | None, turn_seconds: float
    ) -> None:
        self.bot = bot
        self.against = against
        self.games = games
        self.file = _file_of(bot)
        self._rules = rules
        self._seed = seed
        self._jobs = jobs
        self._turn_seconds = turn_seconds

    def play(self) -> Trial | None:
        """Play until all games are over or something is wrong; None when the folder has changed meanwhile."""
        start = look = time.monotonic()
        before = _signature(self.file.parent)
        scores: list[float] = []
        try:
            played = stream(
                [self.bot, self.against],
                games=self.games,
                seed=self._seed,
                rules=self._rules,
                jobs=self._jobs,
                seats=Seats.PAIRED,
                turn_seconds=self._turn_seconds,
            )
            with closing(played):
                for game in played:
                    if game.failures:
                        return Trial([], time.monotonic() - start, failure=game.failures[0])
                    name = list(game.stats)[(game.game - 1) % 2]  # in the second game of a pair it sits second
                    scores.append(1 / len(game.winners) if name in game.winners else 0.0)
                    if time.monotonic() - look > LOOK_SECONDS:
                        look = time.monotonic()
                        if _signature(self.file.parent) != before:
                            return None  # and the next save is there already
        except SalvoError as error:
            return Trial([], time.monotonic() - start, error=error)
        pairs = [fmean(pair) for pair in zip(scores[::2], scores[1::2], strict=True)]
        return Trial(pairs, time.monotonic() - start)

    def again(self, game: int) -> str:
        """Return the command that shows a game again."""
        return again([self.bot, self.against], self._seed, game, rules=self._rules, seats=Seats.PAIRED)


def _file_of(bot: str) -> Path:
    path, _, _ = bot.rpartition(":") if ".py:" in bot else (bot, "", "")
    return Path(path)


def _signature(folder: Path) -> dict[str, tuple[int, int]]:
    """What tells one state of a folder's Python files from another."""
    found = {}
    for file in folder.glob("*.py"):
        try:
            status = file.stat()
        except FileNotFoundError:
            continue  # an editor is about to put another one in its place
        found[file.name] = (status.st_mtime_ns, status.st_size)
    return found


def _saves(folder: Path) -> Iterator[None]:
    """Yield at once and then whenever Python files of a folder have changed.

    Raises:
        MissingExtra: what listens to the file system is not installed.
    """
    try:
        from watchfiles import watch
    except ModuleNotFoundError:
        raise MissingExtra("salvo dev", "lab") from None
    # The folder, not the file: many editors put a new file in the place of the old one. The first answer comes without
    # a change and says that from now on none is missed.
    seen: dict[str, tuple[int, int]] | None = None
    for _ in watch(
        folder,
        watch_filter=lambda _, path: path.endswith(".py"),
        step=QUIET_MS,
        rust_timeout=100,
        yield_on_timeout=True,
        recursive=False,
    ):
        if (now := _signature(folder)) != seen:
            seen = now
            yield


def _lines(trial: Trial, last: list[float] | None, bench: _Bench) -> Iterator[str]:
    at = time.strftime("%H:%M:%S")
    if trial.error is not None:
        text, where = _told(bench.file, trial.error.text)
        yield f"{at}  {where}: {text}" if where else f"{at}  {trial.error}"
    elif trial.failure is not None:
        text, where = _told(bench.file, trial.failure.text)
        yield f"{at}  {where + ': ' if where else ''}{trial.failure.code}: {text}"
        yield f"          again: {bench.again(trial.failure.game)}"
    else:
        rate, error = rate_and_error(trial.pairs)
        change = ""
        if last is not None:
            moved, unsure = change_and_error(trial.pairs, last)
            change = f", {moved:+.1%} +- {unsure:.1%} since the last save" if moved or unsure else ", no game changed"
        against = f"{bench.games} games against {bench.against}"
        yield f"{at}  {rate:.1%} +- {error:.1%} of {against}{change}  ({trial.seconds:.1f} s)"


def _told(file: Path, text: str) -> tuple[str, str]:
    """Return a text without the line that it names, and the line as editors open it, where it is the bot's."""
    found = _PLACE.search(text)
    return (text[: found.start()], f"{file}:{found['line']}") if found and f"({file.name}," in found[0] else (text, "")


def _record(trial: Trial, last: list[float] | None, bench: _Bench) -> dict[str, object]:
    record: dict[str, object] = {"seconds": round(trial.seconds, 3)}
    if trial.error is not None:
        text, where = _told(bench.file, trial.error.text)
        return record | {"error": {"code": trial.error.code, "text": text, "where": where}}
    if trial.failure is not None:
        text, where = _told(bench.file, trial.failure.text)
        failure = trial.failure
        return record | {
            "failure": {"player": failure.player, "game": failure.game, "turn": failure.turn, "code": failure.code}
            | {"text": text, "where": where, "again": bench.again(failure.game)}
        }
    rate, error = rate_and_error(trial.pairs)
    record |= {"games": bench.games, "rate": rate, "plus_minus": error}
    if last is not None:
        moved, unsure = change_and_error(trial.pairs, last)
        record |= {"change": moved, "change_plus_minus": unsure}
    return record
