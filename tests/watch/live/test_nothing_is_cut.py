"""No page cuts a text, lays one over another, or hides what can be pressed: the worst layouts, in a real browser.

Each failure names all that is wrong with a layout, a line for each page, width and fault; ``kit/geometry.py`` says what
the faults are. The layouts are those moments, numbers of teams and names that leave the least room; all others are
``slow``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Final

import pytest

from kit import filled_pages as pages
from kit.browser import Browser
from kit.filled_pages import LOGS, LONGEST, SHORTEST, Page
from kit.geometry import LAPTOP, PHONE, SCREENS, Screen, look, settled
from kit.page_of_a_command import faults
from kit.programs import needs

pytestmark = [needs("chromium"), pytest.mark.long]

#: A layout: what opens its pages, which are served until the stack ends and written to the folder.
Layout = Callable[[contextlib.ExitStack, Path], list[Page]]


def served(moment: Callable[[contextlib.ExitStack, Sequence[str]], list[Page]], names: Sequence[str]) -> Layout:
    return lambda stack, folder: moment(stack, names)


def written(moment: Callable[[Path, Sequence[str]], list[Page]], names: Sequence[str]) -> Layout:
    return lambda stack, folder: moment(folder, names)


def both(names: Sequence[str]) -> Layout:
    return lambda stack, folder: pages.site(stack, folder, names)


_TWELVE: Final = LONGEST[:12]
LAYOUTS: Final[dict[str, Layout]] = {
    "the ceremony of a league of 12": served(pages.ceremony, _TWELVE),
    "the end of a game of 3": served(pages.over, LONGEST[:3]),
    "a crowd of 12 at one table": served(pages.crowd, _TWELVE),
    "a round of a league of 12": served(pages.a_round, _TWELVE),
    "between two rounds of a league of 12": served(pages.between, _TWELVE),
    "the final table of a league of 12": served(pages.final, _TWELVE),
    "arrivals of 12, of whom 4 are missing": served(pages.arrivals, _TWELVE),
    "a break in a round": served(pages.pause, _TWELVE),
    "a player with three opponents": served(pages.person, LONGEST[:4]),
    "a replay of 4": written(pages.replays, LONGEST[:4]),
    "standings and cards of 12": lambda stack, folder: [
        *pages.tables_of_results(folder, _TWELVE),
        *pages.cards(folder, _TWELVE),
    ],
    "the games of 12": both(_TWELVE),
}


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    yield shared
    shared.tell("Emulation.setEmulatedMedia", features=[])


def be(window: Browser, screen: Screen) -> None:
    """Be a screen: a phone is dark, all others are light, and nothing moves on any."""
    features = {"prefers-color-scheme": "dark" if screen == PHONE else "light", "prefers-reduced-motion": "reduce"}
    window.tell("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()])
    window.resize(*screen)


def wrong(window: Browser, layout: str, shown: Sequence[Page], opened: Sequence[Screen] = (PHONE, LAPTOP)) -> list[str]:
    """Return what is wrong with the pages of a layout, a line each.

    Args:
        opened: the screens on which a page is opened; on the others it is as after a change of its window.
    """
    found = []
    kinds = {page.name.split()[0]: page.name for page in reversed(shown)}  # axe takes long, so it has one of each kind
    axe = dict(zip(kinds.values(), cycle((LAPTOP, PHONE))))
    for page, screen in product(shown, SCREENS):
        about = f"{page.name}, {layout}, {screen}"
        be(window, screen)
        if screen in opened:
            try:
                page.show(window)
            except AssertionError as error:
                text = window.run("return document.body.innerText")
                found.append(f"{about}: not shown, {error}: {text!r:.300}")
                continue
        settled(window)
        found += [
            f"{about}: {each}"
            for each in look(window, still=page.still and screen.width >= LAPTOP.width, within=page.within, logs=LOGS)
        ]
        if screen == axe.get(page.name):
            found += [f"{about}: axe, {each}" for each in faults(window)]
        found += [f"{about}: console, {each}" for each in window.complaints()]
    window.open("about:blank")  # before what serves the pages ends
    window.complaints()
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda name: name.replace(",", "").replace(" ", "-"))
def test_nothing_is_cut_or_covered_or_out_of_reach(window: Browser, tmp_path: Path, layout: str) -> None:
    with contextlib.ExitStack() as stack:
        found = wrong(window, layout, [page for page in LAYOUTS[layout](stack, tmp_path) if not page.roomy])
    assert not found, "\n".join(["", *found])


_MOMENTS: Final[dict[str, Callable[[Sequence[str]], Layout]]] = {
    "ceremony": partial(served, pages.ceremony),
    "over": partial(served, pages.over),
    "crowd": partial(served, pages.crowd),
    "round": partial(served, pages.a_round),
    "between": partial(served, pages.between),
    "final": partial(served, pages.final),
    "arrivals": partial(served, pages.arrivals),
    "lobby": partial(served, pages.lobby),
    "break": partial(served, pages.pause),
    "person": partial(served, pages.person),
    "replays": partial(written, pages.replays),
    "standings": partial(written, pages.tables_of_results),
    "cards": partial(written, pages.cards),
    "site": both,
}
#: Of teams, at one table or in a league.
_NUMBERS: Final = (2, 3, 4, 5, 8, 9, 12, 16, 30)
#: A person has so many opponents, and a replay is of so many.
_MOST: Final = {"person": 5, "replays": 8, "over": 16}


@pytest.mark.slow
@pytest.mark.parametrize("names", [LONGEST, SHORTEST], ids=["longest", "shortest"])
@pytest.mark.parametrize(
    ("moment", "teams"),
    [(moment, teams) for moment, teams in product(_MOMENTS, _NUMBERS) if teams <= _MOST.get(moment, max(_NUMBERS))],
)
def test_nothing_is_cut_in_any_moment_with_any_number_of_teams(
    window: Browser, tmp_path: Path, moment: str, teams: int, names: Sequence[str]
) -> None:
    with contextlib.ExitStack() as stack:
        shown = _MOMENTS[moment](names[:teams])(stack, tmp_path)
        found = wrong(window, f"{moment} of {teams}", shown, SCREENS)
    assert not found, "\n".join(["", *found])
