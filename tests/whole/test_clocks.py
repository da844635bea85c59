"""Nothing depends on the wall clock but what people read, dates that are somebody else's, and where a clock begins."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_LOGGED = "when a line was printed"
_DATE = "the dates of a certificate"
_AGE = "files that nobody has used for weeks"
_BEGINS = "where a clock begins that then never jumps"
#: What reads it, and what for.
READERS = {
    "client_sdk/salvo/cli/logs.py": _LOGGED,
    "client_sdk/salvo/cli/service_output.py": _LOGGED,
    "client_sdk/salvo/bots/programs/exec_bot.py": _AGE,
    "client_sdk/salvo/bots/versions.py": _AGE,
    "client_sdk/salvo_lab/tournament/folder.py": "whether a file is being written: it is looked at twice if it is new",
    "server/salvo_audit/check/table.py": "the time that is sent to a client under test",
    "server/salvo_audit/commands/check.py": "the day of a report",
    "server/salvo_audit/doctor/broker_checks.py": _DATE,
    "server/salvo_league/commands/evening.py": "when an evening begins that somebody plans",
    "server/salvo_league/run.py": "when a league was over",
    "server/salvo_server/brokers/embedded/runner.py": _DATE,
    "server/salvo_server/commands/backup.py": "when a backup was made",
    "server/salvo_server/commands/serve_report.py": _LOGGED,
    "server/salvo_server/core/clock.py": _BEGINS,
    "server/salvo_server/storage/roster.py": "since when an account is there",
    "server/salvo_watch/commands/web.py": _DATE,
    "server/salvo_watch/live_views.py": _BEGINS,
    "server/salvo_watch/web/static/lobby.js": "how many minutes a break has lasted",
    "server/salvo_watch/web/static/now.js": "when a league begins, as its announcement says",
}
_CALLS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
#: A date without an argument, or its number.
_IN_SCRIPTS = re.compile(r"\bDate\.now\b|\bnew Date\(\)|\bDate\(\)")


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _reads_the_wall_clock(text: str) -> bool:
    """Whether a module of Python names a wall clock, called or not."""
    return any(
        isinstance(node, ast.Attribute) and (_last(node.value), node.attr) in _CALLS
        for node in ast.walk(ast.parse(text))
    )


def _readers() -> Iterator[str]:
    for folder in ("client_sdk", "server"):
        for path in sorted((_ROOT / folder).rglob("*")):
            name = path.relative_to(_ROOT).as_posix()
            if "node_modules" in name or "/test/" in name or "/examples/" in name:
                continue
            if path.suffix == ".py":
                text = path.read_text(encoding="utf-8")
                if "time" in text and _reads_the_wall_clock(text):
                    yield name
            elif path.suffix in (".js", ".mjs", ".html", ".j2") and _IN_SCRIPTS.search(
                path.read_text(encoding="utf-8")
            ):
                yield name


@pytest.mark.long
def test_the_wall_clock_is_read_for_people_dates_and_beginnings_alone() -> None:
    assert sorted(_readers()) == sorted(READERS)


@pytest.mark.parametrize("line", ["time.time()", "since = time.time_ns", "datetime.datetime.now(UTC)", "date.today()"])
def test_a_reader_of_the_wall_clock_is_found(line: str) -> None:
    assert _reads_the_wall_clock(line)
    assert not _reads_the_wall_clock("time.monotonic() + time.sleep(1)")
