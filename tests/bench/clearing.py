"""How many turns the built-in bots need to clear a board, by every ruleset: ``make numbers``.

Each bot clears the same boards, which never shoot back. What was measured is added to ``docs/numbers.json`` every few
seconds, so a run that was ended resumes there. A row is measured again when the code of rules or bot has changed.
First every row gets a part of its boards, so there is something to read of each. ``docs/numbers.md`` and its plot are
drawn from that file (``clearing_page.py``), also by a run that ends early.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from math import floor, log10
from pathlib import Path
from types import ModuleType
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.clearing_page import DATA, write_page
from bench.optimum import small_boards
from salvo.bots.sources import load
from salvo.cli.output import progress_bar
from salvo.rules import BOOKS, POMCP
from salvo.system.atomic_file import replace_file
from salvo_lab.commands.on_hosts import connected
from salvo_lab.commands.solo import clear_all
from salvo_lab.solo import SHOOTER, Boards, Cleared

ROOT: Final = Path(__file__).parents[2]
BOTS: Final = ("random", "hunter", "density", "admiral")
SEED: Final = "numbers"
#: A bot that takes more processor time than this for a board, in seconds, is slow.
SLOW_SECONDS: Final = 0.1
#: Every row gets these parts of its boards, one after the other.
PARTS: Final = (0.02, 0.1, 1.0)
#: Between two saves of what was measured.
SAVE_SECONDS: Final = 5.0
#: The code of rules decides all figures, and each bot's own its own.
_RULES: Final = ROOT / "client_sdk/salvo/rules"

Row = dict[str, Any]
#: Clears the boards of these numbers with a bot.
Clear = Callable[[Boards, range], Generator[Cleared, None, None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=10_000, help="of each ruleset and bot")
    parser.add_argument("--slow-boards", type=int, default=1_000, help="for slow bots")
    parser.add_argument("--rules", nargs="+", choices=BOOKS, default=list(BOOKS))
    parser.add_argument("--bots", nargs="+", choices=BOTS, default=BOTS)
    parser.add_argument("--jobs", type=int, help="processes to play in; all cores by default")
    parser.add_argument("--scheduler", help="URL of salvo lab scheduler, to play on its hosts")
    parser.add_argument("--tls", type=Path, help="the folder of salvo tls, the same on all hosts")
    given = parser.parse_args()
    with connected(given.scheduler, given.tls) as cluster, contextlib.suppress(KeyboardInterrupt):

        def clear(run: Boards, boards: range) -> Generator[Cleared, None, None]:
            return clear_all(run, boards, given.jobs, cluster)

        runs = [(rules, bot, False) for rules in given.rules for bot in given.bots]
        runs += [(POMCP.name, bot, True) for bot in given.bots if POMCP.name in given.rules]
        measure_all(DATA, runs, given.boards, given.slow_boards, clear)
    write_page()


def measure_all(data: Path, runs: Iterable[tuple[str, str, bool]], boards: int, slow_boards: int, clear: Clear) -> None:
    """Bring rows to their number of boards, first to a part of it, and save them as they grow; others stay.

    Args:
        runs: ruleset, bot, and whether fleets are drawn ship by ship.
    """
    code = {bot: code_of(bot) for bot in BOTS}
    saved = json.loads(data.read_text()) if data.exists() else {"rows": []}
    rows = {(row["rules"], row["bot"], row.get("ship_by_ship", False)): row for row in saved["rows"]}
    wanted = []
    for run in runs:
        if run not in rows or rows[run]["code"] != code[run[1]]:
            rows[run] = empty_row(*run, code[run[1]])
        wanted.append(rows[run])
    every = [(rules, bot, drawn) for drawn in (False, True) for rules in BOOKS for bot in BOTS]
    saved["rows"] = [rows[run] for run in every if run in rows]
    if saved.get("code") != code and all(row["code"] == code[row["bot"]] for row in saved["rows"]):
        saved |= {"small": small_boards(), "code": code}
    for part in PARTS:
        for row in wanted:
            for _ in grow(row, int(part * boards), min(int(part * boards), slow_boards), clear):
                replace_file(data, json.dumps(saved, indent=1).encode())
    replace_file(data, json.dumps(saved, indent=1).encode())


def code_of(bot: str) -> str:
    """Return the last commit that changed the rules, the bot, or a module beside it that it uses.

    Raises:
        SystemExit: there are changes that are in no commit.
    """
    files = [_RULES, *(Path(module.__file__) for module in modules_of(bot) if module.__file__)]

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words, "--", *files], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    if changed := git("status", "--porcelain"):
        raise SystemExit(f"commit what you changed first, so that the figures name what they are of:\n{changed}")
    return git("log", "-1", "--format=%H")[:8]


def modules_of(bot: str) -> list[ModuleType]:
    """Return the module of a bot, and those beside it that it uses, directly or through others."""
    modules = [sys.modules[load(bot).__module__]]
    beside = modules[0].__name__.rpartition(".")[0] + "."
    for module in modules:
        names = {str(getattr(value, "__module__", "")) for value in vars(module).values()}
        used = [sys.modules[name] for name in sorted(names) if name.startswith(beside)]
        modules += [each for each in used if each not in modules]
    return modules


def empty_row(rules: str, bot: str, ship_by_ship: bool, code: str) -> Row:
    """Return a row without boards; ``turns`` and ``ms`` count boards and answers."""
    return {
        "rules": rules,
        "bot": bot,
        "ship_by_ship": ship_by_ship,
        "seed": SEED,
        "code": code,
        "boards": 0,
        "seconds": 0.0,
        "turns": {},
        "ms": {},
    }


def grow(row: Row, boards: int, slow_boards: int, clear: Clear) -> Iterator[None]:
    """Clear the boards that are missing, and yield now and then.

    Args:
        boards: how many a row has at the end.
        slow_boards: the same for a slow bot.
    """
    turns, ms = Counter[str](row["turns"]), Counter[str](row["ms"])
    saved, first = time.monotonic(), row["boards"] + 1
    run = Boards({SHOOTER: row["bot"]}, SEED, BOOKS[row["rules"]], ship_by_ship=row["ship_by_ship"])
    cleared = clear(run, range(first, boards + 1))
    with contextlib.closing(cleared), progress_bar(boards, f"{row['rules']}, {row['bot']}") as show:
        while row["boards"] < (slow_boards if is_slow(row) else boards):
            board = next(cleared)
            turns[str(board.salvos)] += 1
            ms.update(rounded(1000 * second) for second in board.seconds)
            row |= {"boards": board.board, "seconds": row["seconds"] + sum(board.seconds), "turns": turns, "ms": ms}
            show(board.board)
            if time.monotonic() - saved > SAVE_SECONDS:
                saved = time.monotonic()
                yield


def is_slow(row: Row) -> bool:
    """Whether a bot takes long for a board, by those that it has cleared."""
    return bool(row["seconds"] > SLOW_SECONDS * row["boards"])


def rounded(ms: float) -> str:
    """Return a time with two digits, so that there are few different ones."""
    digits = 1 - floor(log10(ms)) if ms > 0 else 0
    return f"{round(ms, digits):g}"


if __name__ == "__main__":
    main()
