"""What ``salvo serve`` prints of the programs beside it."""

from __future__ import annotations

import json

import pytest

from salvo_server.commands.serve_report import WEB_FRONT, ServeReport


@pytest.mark.parametrize("line", ['{"event": "dropped", "lines": 3}', '{"event": "listen'])
def test_any_line_of_the_web_front_is_passed_on(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    ServeReport(True, None).report_output(WEB_FRONT, line)
    record = json.loads(capsys.readouterr().out)
    assert (record["event"], record["text"]) == ("web", line)
