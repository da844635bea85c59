"""Plays a league to its end, from wherever it was left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from salvo.codec.announcements import LEAGUE
from salvo_lab.series.lines import FixtureEnded, LeagueLine
from salvo_lab.series.record import SeriesRecord
from salvo_league.all_brokers import AllBrokers
from salvo_league.director import Director, Store
from salvo_league.spectators import league_shown
from salvo_server.core.clock import epoch_clock

#: How often it looks at the tables when nothing is heard.
_LOOK_SECONDS: Final = 0.25
#: For servers to publish the end; one that is away is not waited for any longer.
_LONGEST_SECONDS: Final = 10.0


def play_league(
    director: Director,
    record: SeriesRecord,
    cells: AllBrokers,
    report: Callable[[LeagueLine], None],
    waiting: Callable[[list[str], list[str]], None],
) -> bool:
    """Play until the league is over; every line is on the disk before ``report`` is called with it.

    Return whether its servers publish the end; a server that is away is not waited for.

    Args:
        waiting: called at every look with the teams that have no game to play, and with the tables where others play.

    Raises:
        SeriesError: ``bad_results``: the record cannot be written.
        ConnectionLost: the broker refuses this client, or another program runs as this host.
    """
    clock_ms = epoch_clock()  # of a ladder that is open for an hour; the machine's may be set meanwhile
    while not director.over:
        views = cells.look(_LOOK_SECONDS)
        for output in director.step(time.monotonic(), clock_ms() / 1000, views):
            if isinstance(output, Store):
                record.add([output.line])
                report(output.line)
            else:
                cells.act(output)
        cells.seat(director.seats(), last=director.over)
        shown = league_shown(
            director.book,
            director.host,
            director.rules,
            clock_ms() / 1000,
            director.teams,
            begins=director.begins,
            over=director.over,
        )
        cells.report(LEAGUE.write(shown))
        waiting(director.waiting_here, director.busy())
    if not _end_is_published(director, cells):
        return False
    record.add([FixtureEnded(int(time.time()))])
    return True


def _end_is_published(director: Director, cells: AllBrokers) -> bool:
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        views = cells.look(_LOOK_SECONDS)
        if director.end_is_published(views):
            return True
    return False
