"""``salvo dev``."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import click

from salvo.errors import BotError, SalvoError
from salvo.laboratory.again import again, seat_names
from salvo.laboratory.arena import Failure
from salvo.laboratory.intervals import change_and_error, rate_and_error
from salvo.laboratory.simulation import TURN_SECONDS, Seats, simulate, stream
from salvo.laboratory.worth_seeing import Lost, Score, lost_by_most, lost_since, score_of
from salvo.versions import kept, pinned, python_files, split
from salvo_server.cli.output import JOBS, SECONDS, progress_bar

#: The opponent that is the bot as it was when the command began.
BEFORE = "before"
#: Seconds between two looks whether a file was saved.
LOOK_SECONDS = 0.1
#: Seconds without a further change until what an editor saves is taken for whole; it may write several times.
QUIET_SECONDS = 0.05
#: Below the time of the first line.
INDENT = " " * 10
#: Games against each opponent, for an error that means something.
LEAST_GAMES = 4
_PLACE = re.compile(r" \((?P<file>[^()]+\.py), line (?P<line>\d+)\)$")

#: What tells one state of a bot's Python files from another: by path, time of the last change in ns, and size.
Signature = dict[Path, tuple[int, int]]


class _Failed(Exception):
    """A bot failed in a game; the command shows it.

    Attributes:
        against: which opponent it was; empty when it was the bot itself.
    """

    def __init__(self, failure: Failure, command: str, against: str) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.command = command
        self.against = against


class _SavedAgain(Exception):
    """What is played is not what stands in the files."""


@dataclass(frozen=True, slots=True)
class Round:
    """Games against one opponent.

    Attributes:
        against: as it was typed.
        source: what was played.
    """

    against: str
    source: str
    scores: Sequence[Score]

    @property
    def pairs(self) -> list[float]:
        """The bot's score of each pair of games, 0..1; a tie is half a win."""
        worths = [score.worth for score in self.scores]
        return [fmean(pair) for pair in zip(worths[::2], worths[1::2], strict=True)]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the games after a save.

    Attributes:
        rounds: one for each opponent; empty when something is wrong.
        wrong: the first failure, which ended the games, or why there were none.
    """

    seconds: float
    rounds: Sequence[Round] = ()
    wrong: _Failed | SalvoError | None = None

    @property
    def pairs(self) -> list[float]:
        """What each pair was worth against all opponents, who have the same fleets in it."""
        return [fmean(scores) for scores in zip(*(each.pairs for each in self.rounds), strict=True)]

    @property
    def played(self) -> Trial:
        """This without the games against itself, which tell nothing when it is the version that is kept."""
        return replace(self, rounds=[each for each in self.rounds if each.against != BEFORE])

    @property
    def games(self) -> int:
        """Of all rounds."""
        return sum(len(each.scores) for each in self.rounds)


@click.command()
@click.argument("bot")
@click.option(
    "--against",
    multiple=True,
    default=("hunter",),
    help=f"An opponent, or several: a file, HEAD:file.py, a house bot, or {BEFORE}: BOT as it was when this began.",
)
@click.option(
    "--games",
    type=click.IntRange(min=LEAST_GAMES),
    default=200,
    help="How many at every save, in pairs; the opponents share them.",
)
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
    bot: str,
    against: tuple[str, ...],
    games: int,
    rules: str,
    seed: str,
    jobs: int | None,
    turn_seconds: float,
    as_json: bool,
) -> None:
    """Play BOT, a file or file.py:Name, now and whenever a Python file of its folder is saved, until Ctrl-C.

    Each time the same games are played, and compared with those of the last save that played to the end. With --against
    before BOT plays itself as it was when this began, with all that lay beside it then. The first mistake ends the
    games and is shown with its line. +- is a 95 % interval. What bots print goes nowhere.
    """
    file = Path(split(bot)[0])
    if not file.is_file():
        raise BotError("bad_bot", f"no file {file}; salvo dev plays a file whenever it is saved")
    each = _share(games, against)
    bench = _Bench(bot, [_opponent(name, file) for name in against], each, rules, seed, jobs, turn_seconds)
    last: Trial | None = None
    try:
        for signature in _saves(file.parent):
            trial = bench.play(signature)
            if trial is None:
                continue
            if as_json:
                click.echo(json.dumps(_record(trial, last, bench)))
            else:
                for line in _lines(trial, last, bench):
                    click.echo(line)
            if trial.rounds:
                last = trial
    except KeyboardInterrupt:
        click.echo("", err=True)


def _share(games: int, against: Sequence[str]) -> int:
    """Return how many games each opponent gets, an even number."""
    least = LEAST_GAMES * len(against)
    if games < least:
        raise click.UsageError(f"--games {games}: {len(against)} opponents need {least} or more")
    for name in against:
        if against.count(name) > 1:
            raise click.UsageError(f"--against {name}: named {against.count(name)} times")
    return games // len(against) // 2 * 2


def _opponent(name: str, file: Path) -> tuple[str, str]:
    """Return an opponent as it is called and as it is played.

    Raises:
        BotError: ``bad_bot``: ``before`` could be two things; ``bad_version``.
    """
    if name != BEFORE:
        return name, pinned(name)
    for folder in (Path(), file.parent):
        if (folder / f"{BEFORE}.py").exists():
            other = folder / f"{BEFORE}.py"
            raise BotError(
                "bad_bot",
                f"--against {BEFORE} is {file.name} as it is now, and there is {other} too: --against {other} is "
                "the file; for the version call it otherwise",
            )
    return name, ""


class _Bench:
    """Plays one bot again and again."""

    def __init__(
        self,
        bot: str,
        opponents: Sequence[tuple[str, str]],
        games: int,
        rules: str,
        seed: str,
        jobs: int | None,
        turn_seconds: float,
    ) -> None:
        """Make each opponent once, in a process of its own, since no save of the bot mends what is wrong with it.

        Raises:
            BotError: ``bad_bot``, ``bad_version``.
            SalvoError: ``bad_rules``.
        """
        self.file = Path(split(bot)[0])
        self._bot = bot
        self._opponents = opponents
        self._games = games
        self._rules = rules
        self._seed = seed
        self._jobs = jobs
        self._turn_seconds = turn_seconds
        self._before = ""
        for name, source in opponents:
            if name == BEFORE:
                kept(bot)
                continue
            tried = simulate([source, "random"], games=1, rules=rules, turn_seconds=turn_seconds)
            for failure in tried.failures:
                if failure.code == "bad_bot":
                    raise BotError(failure.code, failure.text)

    def play(self, signature: Signature) -> Trial | None:
        """Play until all games are over or something is wrong; None when the folder has changed meanwhile.

        Args:
            signature: of the folder when it was saved.
        """
        start = time.monotonic()
        before, rounds, wrong = self._before, [], None
        try:
            if not before and any(name == BEFORE for name, _ in self._opponents):
                before = kept(self._bot)
            rounds = self._play_all(before, signature)
        except _SavedAgain:
            return None
        except (_Failed, SalvoError) as error:
            wrong = error
        if _signature(self.file.parent) != signature:
            return None
        if not self._before and not wrong:
            # Against itself any bot is worth 1/2; what these games have shown is only that what was kept plays, too.
            rounds = [_halves(each) if each.against == BEFORE else each for each in rounds]
            self._before = before
        return Trial(time.monotonic() - start, rounds, wrong)

    def again(self, source: str, game: int) -> str:
        """Return the command that shows a game against an opponent again."""
        return again([self._bot, source], self._seed, game, rules=self._rules, seats=Seats.PAIRED)

    def _play_all(self, before: str, signature: Signature) -> list[Round]:
        """Play all rounds.

        Raises:
            _Failed: a bot fails.
            _SavedAgain: the folder has changed.
        """
        rounds: list[Round] = []
        with progress_bar(self._games * len(self._opponents), "games", plain=True) as show:
            for name, source in self._opponents:
                scores: list[Score] = []
                for score in self._scores(name, source or before, signature):
                    scores.append(score)
                    show(self._games * len(rounds) + len(scores))
                rounds.append(Round(name, source or before, scores))
        return rounds

    def _scores(self, against: str, source: str, signature: Signature) -> Iterator[Score]:
        look = time.monotonic()
        name, _ = seat_names([self._bot, source])
        played = stream(
            [self._bot, source],
            games=self._games,
            seed=self._seed,
            rules=self._rules,
            jobs=self._jobs,
            seats=Seats.PAIRED,
            turn_seconds=self._turn_seconds,
        )
        with closing(played):
            for game in played:
                if game.failures:
                    failure = game.failures[0]
                    whose = "" if failure.player == name else against
                    raise _Failed(failure, self.again(source, game.game), whose)
                yield score_of(game, name)
                if time.monotonic() - look > LOOK_SECONDS:
                    look = time.monotonic()
                    if _signature(self.file.parent) != signature:
                        raise _SavedAgain  # and the next save is there already


def _halves(each: Round) -> Round:
    return replace(each, scores=[Score(score.game, 0.5, score.hits, score.hits) for score in each.scores])


def _signature(folder: Path) -> Signature:
    found = {}
    for file in python_files(folder):
        with suppress(FileNotFoundError):  # an editor is about to put another one in its place
            status = file.stat()
            found[file] = (status.st_mtime_ns, status.st_size)
    return found


def _saves(folder: Path) -> Iterator[Signature]:
    """Yield at once and then whenever Python files of a folder, or of a package in it, have changed.

    It looks, and is told by nobody: a thread that listens would make every process that plays begin from nothing, which
    takes as long as the games.
    """
    seen: Signature | None = None
    while True:
        start = time.monotonic()
        if (now := _signature(folder)) == seen:
            time.sleep(max(LOOK_SECONDS, 20 * (time.monotonic() - start)))  # among many files it looks less often
            continue
        time.sleep(QUIET_SECONDS)
        if _signature(folder) == now:
            seen = now
            yield now


def _verdict(new: Sequence[float], old: Sequence[float]) -> str:
    """Return in a word what has become of the same pairs."""
    if new == old:
        return "unchanged"
    moved, unsure = change_and_error(new, old)
    return "better" if moved > unsure else "worse" if moved < -unsure else "undecided"


def _worth_seeing(trial: Trial, last: Trial | None) -> Iterator[tuple[Lost, str]]:
    """Yield what fell deepest since the last save and what was lost by most, and the sources of the opponents."""
    if last is not None and trial.pairs == last.pairs:
        return  # it was told already
    earlier = last.rounds if last is not None else ()
    fell = [(lost_since(new.scores, old.scores), new.source) for new, old in zip(trial.rounds, earlier, strict=False)]
    most = [(lost_by_most(each.scores), each.source) for each in trial.rounds]
    for found in (fell, most):
        chosen = [(lost, source) for lost, source in found if lost is not None]
        if chosen:
            yield min(chosen, key=lambda each: each[0].score.lead)


def _lines(trial: Trial, last: Trial | None, bench: _Bench) -> Iterator[str]:
    at = time.strftime("%H:%M:%S")
    if isinstance(trial.wrong, _Failed):
        text, where = _told(bench, trial.wrong)
        whose = where or trial.wrong.against
        yield f"{at}  {whose + ': ' if whose else ''}{trial.wrong.failure.code}: {text}"
        yield f"{INDENT}again: {trial.wrong.command}"
        return
    if trial.wrong is not None:
        text, where = _told(bench, trial.wrong)
        yield f"{at}  {where}: {text}" if where else f"{at}  {trial.wrong}"
        return
    yield f"{at}  {_first_line(trial, last, bench)}  ({trial.seconds:.1f} s)"
    if len(trial.rounds) > 1:
        width = max(len(each.against) for each in trial.rounds)
        for number, each in enumerate(trial.rounds):
            old = None if last is None else last.rounds[number].pairs
            yield f"{INDENT}{each.against:{width}}  {_rate_line(each, old)}"
    for lost, source in _worth_seeing(trial, last):
        yield f"{INDENT}{lost.in_words}: {bench.again(source, lost.score.game)}"


def _first_line(trial: Trial, last: Trial | None, bench: _Bench) -> str:
    shown = trial if last is not None else trial.played
    if not shown.rounds:
        return f"{bench.file.name} plays; {BEFORE} is this version from now on"
    rate, error = rate_and_error(shown.pairs)
    line = f"{rate:.1%} +- {error:.1%} of {shown.games} games against "
    line += shown.rounds[0].against if len(shown.rounds) == 1 else f"{len(shown.rounds)} opponents"
    if last is None:
        return line
    line = f"{_verdict(trial.pairs, last.pairs)}: {line}, {_change(trial.pairs, last.pairs)} since the last save"
    return line + (_since_before(trial.rounds[0]) if len(trial.rounds) == 1 else "")


def _rate_line(each: Round, old: Sequence[float] | None) -> str:
    if old is None and each.against == BEFORE:
        return "this version from now on"
    rate, error = rate_and_error(each.pairs)
    return f"{rate:6.1%} +- {error:.1%}" + (f", {_change(each.pairs, old)}" if old else "") + _since_before(each)


def _since_before(each: Round) -> str:
    """Return what games of the bot against itself tell directly."""
    if each.against != BEFORE:
        return ""
    verdict = _verdict(each.pairs, [0.5] * len(each.pairs))
    return (
        f"; {verdict} than {BEFORE}" if verdict in ("better", "worse") else f"; as good as {BEFORE}, as far as is seen"
    )


def _change(new: Sequence[float], old: Sequence[float]) -> str:
    if new == old:
        return "no game changed"
    moved, unsure = change_and_error(new, old)
    return f"{moved:+.1%} +- {unsure:.1%}"


def _told(bench: _Bench, wrong: _Failed | SalvoError) -> tuple[str, str]:
    """Return a text without the line that it names, and the line as editors open it, where it is the bot's."""
    text = wrong.failure.text if isinstance(wrong, _Failed) else wrong.text
    found = _PLACE.search(text)
    if found is None or (isinstance(wrong, _Failed) and wrong.against):
        return text, ""
    file = bench.file.parent / found["file"]
    return (text[: found.start()], f"{file}:{found['line']}") if file.is_file() else (text, "")


def _record(trial: Trial, last: Trial | None, bench: _Bench) -> dict[str, object]:
    record: dict[str, object] = {"seconds": round(trial.seconds, 3)}
    if isinstance(trial.wrong, _Failed):
        failure = trial.wrong.failure
        text, where = _told(bench, trial.wrong)
        return record | {
            "failure": {"player": failure.player, "game": failure.game, "turn": failure.turn, "code": failure.code}
            | {"text": text, "where": where, "again": trial.wrong.command}
        }
    if trial.wrong is not None:
        text, where = _told(bench, trial.wrong)
        return record | {"error": {"code": trial.wrong.code, "text": text, "where": where}}
    shown = trial if last is not None else trial.played
    if not shown.rounds:
        return record | {"games": 0, "opponents": [], "lost": []}
    olds = [None] * len(shown.rounds) if last is None else [each.pairs for each in last.rounds]
    record |= {"games": shown.games} | _figures(shown.pairs, None if last is None else last.pairs)
    record["opponents"] = [
        {"against": each.against, "games": len(each.scores)} | _figures(each.pairs, old)
        for each, old in zip(shown.rounds, olds, strict=True)
    ]
    record["lost"] = [
        {"why": lost.why, "game": lost.score.game, "hits": lost.score.hits, "rival_hits": lost.score.rival_hits}
        | {"again": bench.again(source, lost.score.game)}
        for lost, source in _worth_seeing(trial, last)
    ]
    return record


def _figures(new: Sequence[float], old: Sequence[float] | None) -> dict[str, object]:
    rate, error = rate_and_error(new)
    if old is None:
        return {"rate": rate, "plus_minus": error}
    moved, unsure = change_and_error(new, old)
    verdict = _verdict(new, old)
    return {"rate": rate, "plus_minus": error, "verdict": verdict, "change": moved, "change_plus_minus": unsure}
