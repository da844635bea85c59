"""Files as editors leave them: with a byte order mark, CR LF, blank lines, without a last line feed, in UTF-16."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import salvo
from kit.proofs import SMALL, Played
from salvo.cli import main
from salvo.errors import SalvoError
from salvo.join.fairness.known_servers import KnownServers
from salvo.join.fairness.proof import Proof
from salvo.rules.files import load_book
from salvo.system.text_files import read_secret, trim_variables, without_gaps
from salvo.wire.roles_and_rights import Role
from salvo_display.replay import Replay
from salvo_game.log_verification import verify_file
from salvo_game.recordings import open_recordings
from salvo_game.transcript import check, read_transcript, write_transcript
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_lab.series.lines_file import LinesFile, whole_lines
from salvo_lab.tournament.file import load_tournament
from salvo_server.settings import load_settings
from salvo_server.storage.identity import load_identity
from salvo_server.storage.roster import Roster
from salvo_server.storage.roster_csv import read_entries

Change = Callable[[bytes], bytes]
#: A secret as a card has it.
_GROUPS: Final = ["0123", "4567", "89ab", "cdef", "ghjk", "mnpq", "rs"]

EDITORS: Final[dict[str, Change]] = {
    "a byte order mark": lambda text: codecs.BOM_UTF8 + text,
    "CR CR LF": lambda text: text.replace(b"\n", b"\r\r\n"),
    "CR LF": lambda text: text.replace(b"\n", b"\r\n"),
    "blank last lines": lambda text: text + b"\n \r\n\n",
    "no last line feed": lambda text: text.rstrip(b"\n"),
    "all of these": lambda text: codecs.BOM_UTF8 + text.replace(b"\n", b"\r\n") + b"\r\n \r\n  ",
}
#: What only text of people is read in, and not the lines that programs write.
WIDE: Final[dict[str, Change]] = {
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "UTF-16, the other end first": lambda text: codecs.BOM_UTF16_BE + text.decode().encode("utf-16-be"),
}


def _known_servers(path: Path) -> None:
    KnownServers(path).meet("broker:1883", bytes(32))


def _roster(path: Path) -> None:
    Roster(path).add("red")


CUP = b'name = "cup \xc3\xbc"\ngames = 1\n[bots]\na = "random"\nb = "hunter"\n'
#: Of each kind of text that people write, or may edit: how a file comes to be, and what is read in it.
TEXTS: Final[dict[str, tuple[bytes | Callable[[Path], Any], Callable[[Path], Any]]]] = {
    "settings": (b'profile = "open" # \xc3\xbc\nturn_seconds = 20\n', lambda path: load_settings({}, path)),
    "ruleset": (
        b'name = "pond"\nlike = "streak"\nwidth = 8\n[fleet]\nraft = 1\nboat = 2\n',
        lambda path: load_book(f"{path}"),
    ),
    "tournament": (CUP, load_tournament),
    "accounts": (b'name,role\nred,team\n"blue",host\n', lambda path: read_entries(path, Role.TEAM)),
    "accounts with semicolons": (b"name;role\nred;team\nblue;host\n", lambda path: read_entries(path, Role.TEAM)),
    "accounts with tabs": (b"name\trole\nred\tteam\nblue\thost\n", lambda path: read_entries(path, Role.TEAM)),
    "secret": (b"the \xc3\xbcber-secret\n", lambda path: read_secret(path, partial(SalvoError, "secret_file"))),
    "roster": (_roster, lambda path: Roster(path).members()),
    "identity": (load_identity, lambda path: load_identity(path).fingerprint),
    "known servers": (_known_servers, lambda path: KnownServers(path).key_of("broker:1883")),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_read_as_any_editor_saves_it(kind: str, tmp_path: Path) -> None:
    content, read = TEXTS[kind]
    path = tmp_path / "file.toml"
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    text, as_written = path.read_bytes(), read(path)
    for editor, change in (EDITORS | WIDE).items():
        path.write_bytes(change(text))
        assert read(path) == as_written, editor


@pytest.mark.parametrize("gap", ["", " ", "-", " - ", "\t"])
def test_a_secret_is_read_with_the_gaps_of_its_card(gap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text(gap.join(_GROUPS) + "\n")
    assert read_secret(tmp_path / "secret", partial(SalvoError, "secret_file")) == "".join(_GROUPS)
    monkeypatch.setenv("SALVO_SECRET", gap.join(_GROUPS))
    monkeypatch.setenv("SALVO_TEAM", gap.join(_GROUPS))
    trim_variables()
    assert (os.environ["SALVO_SECRET"], os.environ["SALVO_TEAM"]) == ("".join(_GROUPS), gap.join(_GROUPS))


@pytest.mark.parametrize("own", ["my own-secret", "", "0123-4567", " ".join([*_GROUPS[:-1], "rS"])])
def test_a_secret_that_is_no_cards_is_read_as_it_is(own: str) -> None:
    assert without_gaps(own) == own


def test_variables_that_were_set_from_a_file_of_windows_end_without_its_carriage_return(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "SALVO_URL": "h\r",
        "SALVO_TEAM": "red\r\n",
        "SALVO_SECRET": "two words\r",
        "SALVO_GAMES": "none\r",
        "OTHER": "a\r",
    }

    def ended_with(program: Callable[[], object]) -> str:
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            program()
        assert [os.environ[name] for name in given] == ["h", "red", "two words", "none", "a\r"]
        return str(ended.value)

    assert ended_with(lambda: main(["--version"])) == "0"
    monkeypatch.setattr(sys, "argv", ["mybot.py"])
    assert "SALVO_GAMES is 'none'" in ended_with(lambda: salvo.run(RandomBot))


#: What costs much to read, or breaks what reads it, and what the error says of it.
HOSTILE: Final = {
    "too large": (b"#" * 65_537, "is larger than 64 kB"),
    "a key of many parts": (b"a." * 20_000 + b"a = 1", "line 1: more than 200 dots"),
    "a list in lists": (b"a = " + b"[" * 5_000, "nested more than 16 deep"),
    "a table in tables": (b"[" + b".".join([b"a"] * 17) + b"]\n", "nested more than 16 deep"),
    "many digits": (b"a = " + b"1" * 5_000, "an integer has more than 64 bits"),
    "many digits in another base": (b"a = [{b = 0x" + b"f" * 5_000 + b"}]", "an integer has more than 64 bits"),
    "the first integer that is too large": (b"a = 9223372036854775808", "an integer has more than 64 bits"),
}


@pytest.mark.parametrize("kind", ["settings", "ruleset", "tournament"])
@pytest.mark.parametrize(("content", "text"), HOSTILE.values(), ids=HOSTILE)
def test_what_no_toml_file_needs_is_refused_in_one_line(kind: str, content: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_bytes(content)
    with pytest.raises(SalvoError) as caught:
        TEXTS[kind][1](path)
    assert text in caught.value.text
    assert len(caught.value.text) < len(str(path)) + 100


def _transcript(path: Path) -> None:
    _, header, steps = play_at_table({"a": RandomBot(), "b": RandomBot()}, seed=7)
    write_transcript(path, header, steps)


def _proof(path: Path) -> None:
    path.write_bytes(b"".join(Played("honest", SMALL).play().proof()))


def _verdict(path: Path) -> Any:
    report = verify_file(path)
    return report.finding, [str(game) for game in report.games]


def _gone_on_with(path: Path) -> Any:
    """A team's proof that is heard again from its middle, as after a restart."""
    lines = Played("honest", SMALL).play().proof()
    with closing(Proof(path)) as proof:
        for line in lines[len(lines) // 2 :]:
            proof.receive(line[:-1])
        games = proof.games
    return games, _verdict(path)


def _results(path: Path) -> None:
    path.write_text("".join(json.dumps({"game": number}) + "\n" for number in range(3)))


def _gone_on_with_results(path: Path) -> Any:
    file = LinesFile(path)
    file.begin({"form": 1}, forget=False)
    file.add([{"game": 3}])
    file.close()
    return [line for _, line in whole_lines(path)]


#: Of each kind of file with a line for each record: what makes one, and what is read in it.
LINES: Final[dict[str, tuple[Callable[[Path], None], Callable[[Path], Any]]]] = {
    "transcript": (_transcript, lambda path: check(read_transcript(path))),
    "transcript that is shown": (_transcript, lambda path: Replay(*open_recordings(str(path)).executed()).header),
    "proof": (_proof, _verdict),
    "proof that is shown": (_proof, lambda path: Replay(*open_recordings(str(path)).executed()).header),
    "proof that is gone on with": (_proof, _gone_on_with),
    "results": (_results, lambda path: [line for _, line in whole_lines(path)]),
    "results that are gone on with": (_results, _gone_on_with_results),
}


@pytest.mark.parametrize("kind", LINES)
def test_a_record_is_read_as_any_editor_saves_it(kind: str, tmp_path: Path) -> None:
    make, read = LINES[kind]
    path = tmp_path / "game.jsonl"
    make(path)
    text, as_written = path.read_bytes(), read(path)
    for editor, change in EDITORS.items():
        path.write_bytes(change(text))
        assert read(path) == as_written, editor
