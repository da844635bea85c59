"""Built-in bots for seats that would stay empty: a process each, which ends with the league's."""

from __future__ import annotations

import os
from pathlib import Path

from salvo.system.text_files import read_text
from salvo_lab.tournament.file import at_line
from salvo_league.league_file import League, LeagueError
from salvo_server.operations.supervisor import SupervisedProgram


def house_bots(path: Path, league: League, url: str, bot: str, ca: str | None) -> list[SupervisedProgram]:
    """Return the programs that play as the accounts in the section ``fill`` of a league's file.

    Raises:
        LeagueError: ``bad_league``: the file names no account, or there is no such variable; the text names the line.
    """
    if not league.fill:
        text = '--fill needs accounts: [fill], or [league.fill] of an evening, with NAME = "VARIABLE" of its secret'
        raise LeagueError("bad_league", f"{path}: {text}")
    programs = []
    for name, variable in league.fill.items():
        secret = os.environ.get(variable)
        if not secret:
            text = f"fill.{name} is {variable!r}; no such variable has the secret of {name}"
            raise LeagueError("bad_league", at_line(path, read_text(path), name, text, "fill"))
        words = ["join", url, bot, "--team", name, *(["--ca", ca] if ca else [])]
        programs.append(SupervisedProgram(name, words, {"SALVO_SECRET": secret}, quiet=True))
    return programs
