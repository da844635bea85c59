"""``salvo check``: its cases as data, its reports, and clients that are right and wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import click.testing
import pytest

from kit.command_line import run as run_salvo
from salvo.messages import PROTOCOL
from salvo_audit.check import report
from salvo_audit.check.catalog import CASES, CLAIMS
from salvo_audit.check.own_broker import ReceivedPublication
from salvo_audit.check.results import Results
from salvo_audit.check.scenario import SCENARIOS
from salvo_audit.check.stage import WaitLimits
from salvo_audit.commands.check import check as command_line
from salvo_server.brokers.embedded.addresses import listening

ROOT: Final = Path(__file__).parents[2]


# --- the cases ------------------------------------------------------------------------------------------------------


def test_check_has_a_hundred_cases_each_for_a_requirement_of_the_protocol() -> None:
    known = set(re.findall(r"\*\*(SALVO-[A-Z]+-\d+)\*\*", (ROOT / "proto" / "README.md").read_text()))
    assert len(CASES) >= 100
    for case in CASES.values():
        assert case.requirements
        assert set(case.requirements) <= known, case.name
        assert re.fullmatch(r"[a-z]+/[a-z0-9-]+", case.name)


def test_every_claim_has_cases_and_every_scenario_decides_some() -> None:
    assert {case.claim for case in CASES.values()} - {""} <= CLAIMS.keys()
    assert {each.claim for each in SCENARIOS} - {""} <= CLAIMS.keys()
    assert CLAIMS.keys() <= {case.claim for case in CASES.values()}
    assert all(each.cases for each in SCENARIOS)


def test_check_speaks_the_protocol_s_version() -> None:
    assert str(PROTOCOL) == report.PROTOCOL


def test_the_page_for_authors_has_the_number_of_cases() -> None:
    assert f"its {len(CASES)} cases" in (ROOT / "docs" / "check.md").read_text()


# --- reports --------------------------------------------------------------------------------------------------------


@pytest.fixture
def run() -> report.CheckRun:
    """A run with a case of every verdict."""
    results = Results(CASES)
    results.passed("mqtt/connects")
    shot = ReceivedPublication(1.0, "/players/<b>/fire", b'{"data": \xff\x00}', 1, False)
    results.failed("turn/count", "5 shots & more", "a whole game", expected="4 shots", publication=shot)
    results.not_reached("end/next-game", "the client has ended")
    results.not_applicable("chat/shape", "the client never chats")
    outcomes = results.outcomes(["mqtt/connects", "turn/count", "end/next-game", "chat/shape"])
    return report.CheckRun("node bot.js", "1.0", ["keys"], outcomes, 12.3, "2026-01-02")


def test_a_failure_names_its_requirement_what_was_expected_and_seen_and_the_cure(run: report.CheckRun) -> None:
    text = "\n".join(line for line, _ in report.lines(run))
    for part in (
        "failed  turn/count  SALVO-FIRE-3",
        "expected   4 shots",
        "seen       5 shots & more (a whole game)",
        "topic      /players/<b>/fire",
        r'payload    {"data": \xff\x00}',
        "bytes      7b 22 64 61 74 61 22 3a 20 ff 00 7d",
        "rule       a salvo has as many shots",
        "do         Count your ships",
        "not reached  the client has ended: end/next-game",
        "not applicable  the client never chats: chat/shape",
        "4 cases in 12 s: 1 passed, 1 failed, 1 not reached, 1 not applicable",
    ):
        assert part in text


def test_a_case_that_was_not_reached_comes_with_the_failure_that_is_why() -> None:
    results = Results(CASES)
    results.failed("place/all-ships", "no placement that could be accepted of carrier", "turns in a row")
    results.not_reached("turn/count-falls", "place/all-ships has failed", "place/all-ships")
    results.not_reached("end/next-game", "the client has ended")
    outcomes = results.outcomes(["turn/count-falls", "end/next-game"])
    assert [each.case.name for each in outcomes] == ["place/all-ships", "turn/count-falls", "end/next-game"]
    text = "\n".join(
        line for line, _ in report.lines(report.CheckRun("x", "1.0", [], outcomes, 1.0, "2026-01-02", True))
    )
    assert "seen       no placement that could be accepted of carrier" in text
    assert "not reached  place/all-ships has failed: turn/count-falls" in text


def test_known_failures_are_no_error_and_one_that_is_stale_is(run: report.CheckRun) -> None:
    def judged(*expected: str) -> tuple[bool, str]:
        changed = replace(run, expected=frozenset(expected))
        return changed.surprising, "\n".join(line for line, _ in report.lines(changed))

    fine, text = judged("turn/count")
    assert not fine
    assert "failed, as expected  turn/count\n" in text
    assert "1 failed, 1 not reached, 1 not applicable, 1 of the failures expected" in text
    assert not judged("turn/count", "end/next-game")[0], "what was not reached is not known to be right"
    assert judged()[0]
    for stale in ("mqtt/connects", "chat/shape"):
        surprising, text = judged("turn/count", stale)
        assert surprising
        assert f"not failed, though expected  {stale}: take it out of the file" in text


def test_the_page_stands_alone_and_shows_texts_of_a_client_as_texts(run: report.CheckRun) -> None:
    page = report.page(run)
    assert "Fails: <code>node bot.js</code>" in page
    assert "/players/&lt;b&gt;/fire" in page
    assert "<b>" not in page
    assert not re.search(r"https?://|<script|<link|src=", page)


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "name the client once"),
        (["--case", "turn/nothing", "--", "x"], "no case is called"),
        (["--claims", "magic", "--", "x"], "'magic' is not a claim; the claims are"),
        (["--expected", "no/such/file", "--", "x"], "no/such/file"),
    ],
)
def test_wrong_use_of_check_is_explained(arguments: list[str], word: str) -> None:
    result = click.testing.CliRunner().invoke(command_line, arguments)
    assert result.exit_code == 2
    assert word in result.output


def test_a_file_of_known_failures_is_refused_with_the_line_that_names_no_case(tmp_path: Path) -> None:
    (tmp_path / "known").write_text("# none so far\r\n\r\nturn/nothing  # yet\r\n")
    result = click.testing.CliRunner().invoke(command_line, ["--expected", str(tmp_path / "known"), "--", "x"])
    assert result.exit_code == 2
    assert "line 3: no case is called 'turn/nothing'" in " ".join(result.output.split())


def test_a_program_that_does_not_exist_fails() -> None:
    result = click.testing.CliRunner().invoke(
        command_line, ["--case", "turn/count-falls", "--", "no-such-program-here"]
    )
    assert result.exit_code == 1
    assert "cannot be started" in result.output


def test_a_judge_cannot_listen_where_another_program_does() -> None:
    with listening("127.0.0.1", 0) as other:
        done = run_salvo("check", "--listen", f"127.0.0.1:{other.getsockname()[1]}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: address_in_use: ")


def test_no_limit_of_the_judge_is_below_the_contest() -> None:
    limits = WaitLimits()
    assert limits.placing >= 60
    assert limits.firing >= 30
