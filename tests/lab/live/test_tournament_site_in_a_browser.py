"""A tournament's site in a real browser: from the table to a game, and that to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kit.browser import END, Browser
from kit.browser_looks import colour, contrast
from kit.golden_games import GOLDEN
from kit.programs import needs
from salvo_display.pictures.html import luminance
from salvo_lab.tournament.file import load_tournament
from salvo_lab.tournament.games import GamesFile
from salvo_lab.tournament.highlights import choose
from salvo_lab.tournament.run import games_path, play_tournament, stand
from salvo_lab.tournament.site import make_site
from salvo_watch.archive import Archive
from salvo_watch.site import make_site_of_games

pytestmark = needs("chromium")

_HOSTILE = "<img src=x onerror=alert(1)>'\"&amp;"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cup")
    path = folder / "cup.toml"
    path.write_text(
        'name = "spring"\ngames = 3\nseed = 5\n[bots]\nhunter = "hunter"\n"a. b-c" = "random"\nrude = "rude"\n'
    )
    given = load_tournament(path)
    file = GamesFile(games_path(path), given.fingerprint(), seed=given.seed)
    play_tournament(path, given, file, 1, lambda count: None)
    file.close()
    games = [
        replace(game, strikes=tuple((_HOSTILE, *told[1:]) if told else () for told in game.strikes))
        for game in file.games
    ]
    came_to = stand(given.model_copy(update={"name": _HOSTILE}), games)
    assert make_site(came_to, choose(came_to.games, 3), folder / "www", 1).differing == []
    return folder / "www"


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    shared.resize(1400, 1000)
    yield shared
    assert shared.complaints() == []
    shared.tell("Emulation.setEmulatedMedia", features=[])


def _here(window: Browser) -> str:
    return str(window.run("return location.pathname.split('/').slice(-2).join('/') + location.hash"))


def test_a_click_leads_from_the_table_to_a_game_that_plays_to_its_end(window: Browser, site: Path) -> None:
    window.open((site / "index.html").as_uri())
    window.click('a[href="bots/2.html#against-1"]')
    assert _here(window) == "bots/2.html#against-1"
    assert window.run("return document.querySelector('h1').textContent.trim()") == "a. b-c"
    window.click("#against-1 ~ .wide a")
    assert _here(window).startswith("games/1-")
    assert window.run("return document.querySelector('.ended').checkVisibility()") is False
    window.run("document.getElementById('speed').value = '32'")
    window.click("#play")
    window.wait_for("document.querySelector('main.end')")
    assert window.run("return document.querySelector('.ended h2').textContent").startswith("hunter wins after")
    window.click("nav a")
    assert _here(window) == "www/index.html"


def test_an_odd_game_says_at_its_end_what_went_wrong_and_no_name_gets_out_of_its_place(
    window: Browser, site: Path
) -> None:
    for file in sorted(site.rglob("*.html")):
        window.open(file.as_uri())
        assert window.run("return document.scripts.length") == (2 if file.parent.name == "games" else 0)
    window.open((site / "index.html").as_uri())
    assert window.run("return document.title") == _HOSTILE
    window.click("#odd ~ details summary")
    window.click("#odd ~ details a")
    assert "rude: " not in window.run("return document.body.innerText")
    window.press(END)
    told = window.run("return document.querySelector('.ended').innerText")
    assert f"rude: {_HOSTILE}" in told
    assert "rude: turn" in told


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1920])
def test_nothing_is_wider_than_the_screen(window: Browser, site: Path, width: int, scheme: str) -> None:
    window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    window.resize(width, 800)
    for page in ("index.html", "bots/1.html", "games/1-1.html"):
        window.open((site / page).as_uri())
        assert window.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(window: Browser, site: Path, scheme: str) -> None:
    window.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    for page, selectors in (("index.html", ("p", "thead th", ".soft")), ("bots/2.html", (".lost", ".soft", "nav a"))):
        window.open((site / page).as_uri())
        behind = colour(window, "body", "backgroundColor")
        assert (luminance(behind) > 0.5) == (scheme == "light")
        for selector in selectors:
            assert contrast(colour(window, selector, "color"), behind) >= 4.5, selector


def test_a_tournament_begins_with_its_podium_and_its_lists_are_folded(window: Browser, site: Path) -> None:
    window.resize(360, 800)
    window.open((site / "index.html").as_uri())
    assert window.run("return document.querySelector('.podium .step1 b').textContent") == "hunter"
    assert window.run("return document.querySelector('.podium').getBoundingClientRect().bottom") < 400
    assert window.run("return document.documentElement.scrollHeight") < 2500
    shown = window.run("return [...document.querySelectorAll('table')].filter((each) => each.checkVisibility()).length")
    assert shown == 2  # the standings, and who scored what against whom


def test_the_list_of_a_site_is_filtered_as_one_types_and_leads_to_a_game(window: Browser, tmp_path: Path) -> None:
    archive = Archive([GOLDEN])
    archive.look(None)
    make_site_of_games(archive, tmp_path / "www", "Last night")
    window.resize(360, 800)
    window.open((tmp_path / "www/index.html").as_uri())
    whole = len(archive.listed)
    shown = "return [...document.querySelectorAll('.games li')].filter((each) => each.checkVisibility()).length"
    assert (window.run(shown), window.run("return document.getElementById('count').textContent")) == (
        whole,
        f"{whole} games",
    )
    window.click(".filter input")
    window.press(*"Hunter-7 3 salvo")
    found = [entry for entry in archive.listed if "hunter-7" in entry.players]
    assert window.run(shown) == len(found)
    assert window.run("return document.getElementById('count').textContent") == f"{len(found)} of {whole} games"
    window.run("document.querySelector('.games li:not([hidden]) a').click()")
    window.wait_for("document.querySelector('main.ready')")
    assert _here(window) == f"games/{found[0].id}.html#turn=0" or _here(window) == f"games/{found[0].id}.html"
    window.press(END)
    assert window.run("return document.querySelector('.ended h2').textContent").startswith(found[0].winners[0])
