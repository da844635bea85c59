"""A league's file as editors save it."""

from __future__ import annotations

from pathlib import Path

from salvo_league.league_file import load_league

TEXT = 'name = "evening \u00fc"\nrounds = 2\ntable_size = 2\n'


def test_a_league_is_read_with_either_end_of_line_and_a_mark_at_its_start(tmp_path: Path) -> None:
    file = tmp_path / "league.toml"
    for content in (TEXT.encode(), TEXT.replace("\n", "\r\n").encode(), TEXT.encode("utf-8-sig")):
        file.write_bytes(content)
        assert load_league(file).name == "evening \u00fc"
