"""A server on a system where it was never tried."""

from __future__ import annotations

import pytest

from salvo_server.commands.serve import warn_elsewhere


@pytest.mark.parametrize(("system", "warned"), [("linux", False), ("darwin", True), ("win32", True)])
def test_a_server_warns_on_every_system_but_linux(
    system: str, warned: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.platform", system)
    warn_elsewhere()
    assert (f"needs Linux; on {system} it has never been tried" in caplog.text) is warned
