"""Puts a service together: its parts, and what they share.

All parts share the tables, the counts of refused inputs, and the keyring of the authenticator; nothing else.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable

from salvo.errors import WireError
from salvo_game.journal_interface import Journal, JournalError, Saved
from salvo_game.log import Resends, ServerIdentity
from salvo_game.recovery import Openings
from salvo_game.table import Follower, Table
from salvo_server.core.admission import Admission
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.chat_relay import Chat
from salvo_server.core.clock import epoch_clock, steady_clock
from salvo_server.core.evening import Evening
from salvo_server.core.inbox import Inbox
from salvo_server.core.league_reports import LeagueReports
from salvo_server.core.outages import Outages
from salvo_server.core.play import Play
from salvo_server.core.recaps import Recaps
from salvo_server.core.refusals import Refusals
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.core.senders import EntryList, Senders
from salvo_server.core.server_status import StatusWriter
from salvo_server.foresight import ForeseeingThreads, derivations
from salvo_server.service import Resume, ServerLink, Service, ServiceListener


def open_service(
    link: ServerLink,
    openings: Openings,
    *,
    profile: str = "open",
    clock: Callable[[], int] | None = None,
    gate: Authenticator | None = None,
    journal: Journal | None = None,
    resume: Resume = "crash",
    follower: Follower | None = None,
    listener: ServiceListener | None = None,
    register: EntryList | None = None,
    chat: bool = True,
) -> Service:
    """Open tables on a connection, or restore them from the journal; the last will is a status of the first one.

    Args:
        openings: the tables, and with what they open their games: from the next one on at a table that is restored.
        clock: epoch milliseconds; the machine's by default.
        gate: opens sealed commands; by default one with the journal's pepper that derives keys ahead of time.
        resume: when a game from the journal is resumed.
        follower: publishes the referee's view (SALVO-VIEW-4).
        register: the teams that may take part; None admits every team (SALVO-ACCESS-3).
        chat: whether players may chat (SALVO-CHAT-7).

    Raises:
        JournalError: the journal cannot be read, or its steps do not reproduce its games.
    """
    journal, follower = journal or Journal(), follower or Follower()
    gate = gate or _foreseeing_gate(link, journal, openings.identity)
    saved = journal.load()
    now = steady_clock(clock or epoch_clock(), saved)
    counts: Counter[str] = Counter()
    tables: dict[str, Table] = {}

    recaps = Recaps(tables, gate.keyring, gate.worker)
    evening = _evening(saved, now(), register)
    openings.held = evening.held
    play = Play(tables, evening, openings, gate.keyring, recaps, follower, saved.last_game, saved.last_step)
    status = StatusWriter(profile, openings.first_table, openings.identity, chat)
    senders, refusals = Senders(gate.keyring, register), Refusals(counts)
    admission = Admission(profile, register, openings.identity, play, refusals)
    sync = RetainedSync(tables, openings.first_table, ChainMap(play.retained, follower.retained))
    resends = Resends(play.logs)
    talk = Chat(counts, on=chat)
    reports = LeagueReports(play, senders, refusals)
    inbox = Inbox(play, senders, gate, admission, refusals, talk, reports, resends, sync)
    gate.on_forged = inbox.note_forged

    gate.burn(saved.burned, saved.burned_before)
    resumes = resume == "always" or (resume == "crash" and not saved.ended)
    if saved.behind and not saved.ended:  # a copy counts as ended, so that an operator who knows better may resume it
        resumes = False
    pending = play.set_tables(saved, resumes, status, now())
    service = Service(
        link=link,
        journal=journal,
        play=play,
        gate=gate,
        admission=admission,
        inbox=inbox,
        sync=sync,
        resends=resends,
        outages=Outages(lambda: link.connected),
        status=status,
        now=now,
        counts=counts,
        listener=listener,
        pending=pending,
        doubtful=play.doubtful,
    )
    link.on_connect = service.connected
    return service


def _evening(saved: Saved, now: int, register: EntryList | None) -> Evening:
    try:
        if register is None:
            return Evening(now, saved.evening)
        return Evening(now, saved.evening, lambda: register.badges)
    except WireError as error:
        raise JournalError("journal_corrupt", f"what is on: {error}; restore the journal from a copy") from None


def _foreseeing_gate(link: ServerLink, journal: Journal, identity: ServerIdentity | None) -> Authenticator:
    gate = Authenticator(derivations(), link.wake, pepper=journal.pepper)
    if identity is not None:
        gate.keyring.foresight = ForeseeingThreads(identity.signing_key, gate.keyring.credential)
    return gate
