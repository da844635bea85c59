"""The rude team's own measure: how often, and for how long."""

from __future__ import annotations

import threading

import pytest

from kit.ports import Port
from salvo import events as e
from salvo.messages import SalvoResolved
from salvo_lab.testing import troublemaker
from salvo_lab.testing.troublemaker import PIECES, SHUT_OUT, Piece, Troublemaker, main


class _Waits(threading.Event):
    """Notes how long is waited for it, and waits for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waited.append(timeout)
        return False


def test_it_commits_no_more_rudeness_a_second_than_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(troublemaker, "PIECES", (Piece("nothing", "game", (), "", lambda rude: True),))
    rude, stop = Troublemaker("mqtt://127.0.0.1:1", rate=0.01), _Waits()
    rude._stop = stop
    try:
        for turn in range(3):
            rude._handle(e.SalvoHeard(SalvoResolved(1, turn, "ann", 5, 0, (), ())))
    finally:
        rude._go()
    assert rude.report.done["nothing"] == 3
    first, *others = stop.waited
    assert first <= 0
    assert all(50 < seconds <= 100 for seconds in others)


def test_a_connection_that_is_not_taken_is_told_and_ends_nothing(port: Port) -> None:
    rude = Troublemaker(f"mqtt://{port.address}")
    [silent] = [piece for piece in PIECES if piece.name == "silent sockets"]
    try:
        rude._do(silent)
    finally:
        rude._go()
    assert (rude.report.done["silent sockets"], rude.report.heard) == (1, {SHUT_OUT: 1})


@pytest.mark.parametrize("option", ["--rate", "--seconds"])
@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "soon"])
def test_a_rate_or_a_time_that_is_none_is_refused(
    option: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["troublemaker", "mqtt://127.0.0.1:1", f"{option}={value}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert f"argument {option}: {value!r} is not a number above 0" in capsys.readouterr().err
