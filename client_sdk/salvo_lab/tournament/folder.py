"""A tournament of the bots in a folder: a subfolder each, filled by scp, a share or git; they come, change and go.

Each is tried before it plays: it has to load, and to place a legal fleet. Why one does not is in a file beside its
folder. All that can play meet each other; what was played stays, so that only what is new or has changed plays again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from salvo.adapter import closing, made
from salvo.atomic_file import replace_file
from salvo.bot_sources import in_sandbox, load_program
from salvo.errors import BotError
from salvo.text_files import read_toml
from salvo_lab.series.lines import Entered, SeriesKind
from salvo_lab.series.record import read_record, record_path
from salvo_lab.tournament.file import NAME, TOURNAMENT, Format, Tournament, TournamentError
from salvo_lab.tournament.games import entered, versions_now

#: What a folder may say of its tournament: all that a tournament's file has, but ``bots``.
SETTINGS: Final = "tournament.toml"
#: How the file beside a subfolder ends that says why its bot does not play.
PROBLEM: Final = ".problem.txt"


def load_folder(folder: Path, *, trying: bool) -> Tournament:
    """Return the tournament of a folder, with the bots that can play.

    Args:
        folder: as seen from here; the bots' sources are its subfolders, as seen from it.
        trying: whether those that are new or have changed are tried, and what is wrong with them is written down. Else
            the bots are those that have played.

    Raises:
        TournamentError: ``bad_tournament``: less than two can play, or ``tournament.toml`` is wrong.
    """
    path = folder / SETTINGS
    text, values = read_toml(path, TOURNAMENT.error) if path.is_file() else ("", {})
    if "bots" in values or values.get("format", Format.ROUND_ROBIN) != Format.ROUND_ROBIN:
        raise TournamentError("bad_tournament", f"{path}: a folder's bots are its subfolders, each against each")
    recorded = read_record(record_path(path, SeriesKind.TOURNAMENT))
    known = {} if recorded is None else entered(recorded.lines)
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith((".", "_")))
    whole = {"name": folder.absolute().name, **values}
    # To read the settings, two bots are enough; those of the folder are not known yet.
    given = TOURNAMENT.of(path, text, {**whole, "bots": {"a": "random", "b": "random"}})
    bots = _tried(names, given, known) if trying else [name for name in names if name in known]
    if len(bots) < 2:
        raise TournamentError(
            "bad_tournament", f"{folder}: {len(bots)} of {len(names)} subfolders have a bot that plays; two do"
        )
    entrants = (*known, *(name for name in bots if name not in known))
    return TOURNAMENT.of(path, text, {**whole, "bots": {name: name for name in bots}}).of_folder(entrants)


def _tried(names: Iterable[str], given: Tournament, known: dict[str, Entered]) -> list[str]:
    """Return the subfolders whose bot can play; beside the others, write why it does not."""
    playing = []
    for name in names:
        problem, beside = _problem_of(name, given, known), Path(f"{name}{PROBLEM}")
        if problem:
            replace_file(beside, f"{problem}\n".encode())
        else:
            beside.unlink(missing_ok=True)
            playing.append(name)
    return playing


def _problem_of(name: str, given: Tournament, known: dict[str, Entered]) -> str:
    if NAME.fullmatch(name) is None:
        return (
            f"bad_tournament: the folder's name is {name[:60]!r}; 1..32 letters, digits, blanks and _ . - are allowed"
        )
    now = versions_now(given.model_copy(update={"bots": {name: name}}), known.values())[name]
    if known.get(name) == now:
        return ""  # it has played
    try:
        kind = load_program(in_sandbox(name) if given.sandbox else name)
        with closing(made(kind), "trial", lambda trouble: None) as bot:
            bot.prepare("trial", "0", 1)
            bot.fleet(given.book)
    except BotError as error:
        return str(error)
    return ""
