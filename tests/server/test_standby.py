"""A server that waits for another one's place, and one that gives it up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.command_line import run
from kit.ports import Port
from salvo_game.journal_interface import GameOpened, Holding, Journal, JournalError, JournalProgress
from salvo_server import standby
from salvo_server.settings import SettingsError, load_settings
from salvo_server.standby import ServerConnection, StandDown
from salvo_server.storage.journal.database import DatabaseJournal

OPENED = GameOpened(1, "", 1, 1_795_000_000_000, "{}")
BROKER = "mqtt://127.0.0.1:1883"


# --- what it is started with --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [({}, "add --broker URL"), ({"broker": BROKER, "journal": "none"}, "name one with --journal")],
)
def test_a_standby_that_could_take_nothing_over_is_refused(given: dict[str, str], text: str) -> None:
    with pytest.raises(SettingsError, match=f"^bad_setting: --standby .*{text}"):
        load_settings({"standby": True, **given})
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    assert run("serve", "--standby", *words).returncode == 2


# --- the wait -----------------------------------------------------------------------------------------------------


@pytest.fixture
def port() -> Iterator[Port]:
    with Port() as taken:
        yield taken


def test_the_wait_for_a_file_ends_with_its_owner(tmp_path: Path) -> None:
    """The owner knows of the standby as long as that could take over, and commits nothing afterwards."""
    path = str(tmp_path / "a.journal")
    first = DatabaseJournal(path)
    first.commit([OPENED])
    seen: list[bool] = []

    def stand_by() -> bool:
        seen.append(first.confirm(fresh=True).standby)
        if len(seen) == 8:
            first._locks.release()  # type: ignore[union-attr]  # as the system does when its process dies
        return len(seen) in (3, 4, 8)

    second = DatabaseJournal(path, standby=stand_by)
    assert seen == [False, False, False, True, True, False, False, False]
    assert second.epoch == first.epoch + 1
    with pytest.raises(JournalError, match="taken_over"):
        first.commit([JournalProgress(ended=True)])
    assert second.confirm(fresh=True) == Holding()
    second.close()
    first.close()


# --- the place ----------------------------------------------------------------------------------------------------


class Held(Journal):
    """A journal that says how it is held."""

    def __init__(self, *holdings: Holding | JournalError) -> None:
        self.left = list(holdings)
        self.fresh: list[bool] = []

    def confirm(self, *, fresh: bool) -> Holding:
        self.fresh.append(fresh)
        holding = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(holding, JournalError):
            raise holding
        return holding


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the connection's own clock, which a test moves."""
    clock = [1000.0]
    monkeypatch.setattr("salvo_server.standby.time.monotonic", lambda: clock[0])
    return clock


def away(journal: Held, port: Port) -> ServerConnection:
    return ServerConnection(journal, f"mqtt://{port.address}", "me", standby=True)


def test_a_server_leaves_its_place_to_a_standby_that_reaches_the_broker(port: Port, now: list[float]) -> None:
    connection = away(Held(Holding(standby=True)), port)
    connection.poll(0)
    now[0] += standby.AWAY_SECONDS / 2
    connection.poll(0)
    now[0] += standby.AWAY_SECONDS / 2
    with pytest.raises(StandDown, match=r"^stood_down: this server cannot reach the broker"):
        connection.poll(0)
    connection.close()


def test_a_server_that_may_have_been_replaced_does_not_throw_out_the_other(port: Port) -> None:
    for holding, code in (
        (Holding(sure=False, standby=True), "stood_down: this server reaches neither broker nor journal"),
        (JournalError("taken_over", "by another"), "taken_over"),
    ):
        with socket.create_server(("127.0.0.1", port.number)) as broker:
            broker.setblocking(False)
            journal = Held(holding)
            connection = away(journal, port)
            with pytest.raises((StandDown, JournalError), match=f"^{code}"):
                connection.poll(0)
            assert journal.fresh == [True]
            with pytest.raises(BlockingIOError):  # nobody has called there
                broker.accept()
            connection.close()
