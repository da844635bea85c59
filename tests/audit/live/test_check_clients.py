"""Right clients pass all cases of ``salvo check``; wrong ones fail the case that is about their mistake."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click.testing
import pytest

from audit.client_mutants import FORGETS, MUTANTS, PLAYS_ON, USUAL, Mutant
from salvo_audit.check.catalog import ADDITIONS
from salvo_audit.check.results import CaseOutcome, CaseVerdict
from salvo_audit.check.run import check, select
from salvo_audit.check.scenario import SCENARIOS
from salvo_audit.check.stage import Subject, WaitLimits
from salvo_audit.commands.check import check as command_line

ROOT: Final = Path(__file__).parents[3]
PLAIN_CLIENT: Final = ROOT / "examples" / "client.py"


def _command(script: Path) -> tuple[str, ...]:
    return (sys.executable, str(script), "{host}", "{port}", "{team}", "{secret}")


def _try(command: Sequence[str], *patterns: str, claims: frozenset[str] = frozenset()) -> list[CaseOutcome]:
    return asyncio.run(check(Subject(tuple(command), claims), select(patterns)))


def _not_passed(outcomes: Sequence[CaseOutcome]) -> list[str]:
    fine = (CaseVerdict.PASSED, CaseVerdict.NOT_APPLICABLE)
    wrong = [each for each in outcomes if each.verdict not in fine]
    return [f"{each.case.name}: {each.verdict} {each.why} {each.failures}" for each in wrong]


@pytest.mark.long
def test_check_distinguishes_right_and_wrong_clients_by_exit_code_and_files(tmp_path: Path) -> None:
    chosen = ["--case", "seal/long-secret", "--case", "turn/refused", "--html", str(tmp_path / "page.html")]
    right = click.testing.CliRunner().invoke(command_line, [*chosen, "--", *_command(PLAIN_CLIENT)])
    assert right.exit_code == 0, right.output
    assert "Passes what was tried" in (tmp_path / "page.html").read_text()
    wrong = tmp_path / "client.py"
    wrong.write_text(PLAIN_CLIENT.read_text().replace("secret.encode()", "secret[:32].encode()"))
    result = click.testing.CliRunner().invoke(command_line, [*chosen, "--json", "--", *_command(wrong)])
    assert result.exit_code == 1
    found = [json.loads(line) for line in result.output.splitlines()]
    assert [each["case"] for each in found if each["verdict"] == "failed"] == ["seal/long-secret"]
    known = tmp_path / "known"
    for names, code in (("seal/long-secret  # cuts it", 0), ("turn/refused", 1)):
        known.write_text(names)
        result = click.testing.CliRunner().invoke(
            command_line, [*chosen, "--expected", str(known), "--", *_command(wrong)]
        )
        assert result.exit_code == code, result.output


@pytest.mark.long
def test_a_failure_that_does_not_come_again_alone_is_none(tmp_path: Path) -> None:
    """A client whose first process derives a wrong key."""
    counts = f"""
import pathlib
number = pathlib.Path({str(tmp_path / "number")!r})
number.write_text(number.read_text() + "." if number.exists() else ".")
"""
    text = PLAIN_CLIENT.read_text()
    assert "opslimit=2" in text
    text = text.replace("opslimit=2", "opslimit=2 if number.read_text().count('.') > 1 else 3")
    (tmp_path / "client.py").write_text(counts + text)
    (tmp_path / "known").touch()
    chosen = ["--case", "seal/long-secret", "--expected", str(tmp_path / "known")]
    result = click.testing.CliRunner().invoke(command_line, [*chosen, "--", *_command(tmp_path / "client.py")])
    assert result.exit_code == 0, result.output
    assert "passed  alone, after it had failed beside others: seal/long-secret" in result.output


def _write(mutant: Mutant, folder: Path) -> tuple[str, ...]:
    """Write a mutant's program and return its command."""
    script = folder / "client.py"
    if mutant.patch:
        script.write_text(f'{mutant.patch}\nfrom salvo.cli import main\nmain(["join", "{{url}}", "hunter"])\n')
        return sys.executable, "-c", script.read_text()
    text = PLAIN_CLIENT.read_text()
    for old, new in mutant.edits:
        assert old in text
        text = text.replace(old, new)
    script.write_text(text)
    return _command(script)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.requirement} {mutant.mistake}")
def test_a_wrong_client_fails_the_case_about_its_mistake(mutant: Mutant, tmp_path: Path) -> None:
    claims = ADDITIONS if mutant.patch else frozenset[str]()
    subject = Subject(_write(mutant, tmp_path), claims, WaitLimits(60.0, 20.0, 20.0, 15.0))
    special = any(mutant.case in each.cases for each in SCENARIOS)
    only = [mutant.scenario] if mutant.scenario else [] if special else [USUAL]
    [outcome] = asyncio.run(check(subject, [mutant.case], only=only))
    assert outcome.verdict is CaseVerdict.FAILED, outcome


@pytest.mark.slow
def test_the_client_without_the_sdk_passes_everything_when_it_plays_on(tmp_path: Path) -> None:
    right = Mutant("", "", "", "", (*PLAYS_ON, *FORGETS))
    assert _not_passed(_try(_write(right, tmp_path), "read/*", "end/*", "back/*")) == []


@pytest.mark.slow
def test_the_client_of_forty_lines_passes_every_case() -> None:
    outcomes = _try(_command(PLAIN_CLIENT))
    assert _not_passed(outcomes) == []


@pytest.mark.slow
def test_a_client_in_c_passes_everything(tmp_path: Path) -> None:
    """Its headers come with libmosquitto-dev, libsodium-dev and libcjson-dev."""
    program = tmp_path / "client"
    libraries = ("-lmosquitto", "-lsodium", "-lcjson")
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, ROOT / "examples" / "client.c", *libraries], check=True)
    assert _not_passed(_try((str(program),), claims=frozenset({"basics"}))) == []


@pytest.mark.slow
def test_the_sdk_passes_everything_that_the_protocol_adds() -> None:
    command = (sys.executable, "-m", "salvo", "join", "{url}", "hunter")
    outcomes = _try(command, claims=ADDITIONS)
    assert _not_passed(outcomes) == []
