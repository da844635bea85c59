"""Games committed to a journal, for an archive."""

from __future__ import annotations

from pathlib import Path

from salvo.codec.header import Header, write_header
from salvo_game.journal_interface import GameOpened, StepTaken
from salvo_game.table_step import Step
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_server.storage.journal.database import DatabaseJournal

BOTS = {"ann": Hunter, "bob": RandomBot}


def game_of(seed: int, game: int = 1) -> tuple[Header, list[Step]]:
    _, header, steps = play_at_table({name: bot() for name, bot in BOTS.items()}, seed=seed, game=game)
    return header, steps


def commit(journal: Path, id_: int, game: int, part: float = 1.0) -> int:
    """Write a game to a journal as a server does; return how many steps it has in all."""
    header, steps = game_of(id_, game)
    opened = GameOpened(id_, "", game, 1_790_000_000_000 + id_, write_header(header))
    taken = [StepTaken(id_ * 1000 + number, id_, step.at, step.text, step.check) for number, step in enumerate(steps)]
    server = DatabaseJournal(str(journal))
    server.commit([opened, *taken[: round(part * len(taken))]])
    server.close()
    return len(taken)
