"""Rulesets by name, or from your own TOML file.

    name = "pond"            # a name that no shipped book has
    like = "salvo"           # what is not said below is as in this book; needed unless everything is said
    width = 8
    height = 6
    spacing = "apart"

    [fleet]                  # length by ship, the whole fleet
    cruiser = 3
    raft = 1

Every key is a field of :class:`~salvo.rules.book.RuleBook`, and every value is checked: an error names file, line and
the nearest valid choice.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from salvo.errors import SalvoError
from salvo.rules.board import Grid, ShipClass, Spacing, UnplayableBook
from salvo.rules.book import Announce, Ending, Order, Repeats, RuleBook, Shots, Sinkings, Starter, Targets
from salvo.rules.fleet import MAX_TRIALS, check_room
from salvo.rules.randomness import generator
from salvo.system import plugins
from salvo.system.text_files import line_of, read_toml

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_CHOICES: Final[dict[str, type[StrEnum]]] = {
    "spacing": Spacing,
    "shots": Shots,
    "order": Order,
    "announce": Announce,
    "ending": Ending,
    "starter": Starter,
    "sinkings": Sinkings,
    "targets": Targets,
    "repeats": Repeats,
}
_TYPES: Final[dict[str, type]] = {
    "name": str,
    "like": str,
    "width": int,
    "height": int,
    "fleet": dict,
    **dict.fromkeys(_CHOICES, str),
    "goal": int,
    "reveal": bool,
    "skipping": bool,
}
_IN_WORDS: Final = {str: "a text", int: "an integer", bool: "true or false", dict: "a table of lengths by ship"}
#: Required keys of a file without ``like``.
_NEEDED: Final = ("width", "height", "fleet", "spacing", "shots", "order", "announce", "ending", "starter")
#: A book's ``goal`` belongs to its fleet, so it is not taken over with another one.
_NOT_TAKEN_OVER: Final = frozenset({"name", "grid", "fleet", "goal"})


class RuleFileError(SalvoError):
    """``bad_rules``: no such book, or a file that is none; the text says where, and what is valid."""

    def __init__(self, text: str) -> None:
        super().__init__("bad_rules", text)


def load_book(source: str) -> RuleBook:
    """Return an installed ruleset, by name, or the one of a TOML file.

    Raises:
        RuleFileError: the text names file and line.
        PluginError: ``bad_plugin``: another package adds a ruleset that cannot be loaded.
    """
    if source in _names():
        book: RuleBook = plugins.load(plugins.RULESETS, source, RuleBook)
        if book.name != source:  # players receive this name, and transcripts have it
            raise plugins.misnamed(plugins.RULESETS, source, book.name)
        return book
    if not source.endswith(".toml"):
        near = difflib.get_close_matches(source, _names(), n=1)
        guess = f"did you mean {near[0]}? Otherwise " if near else ""
        known = f"give one of {', '.join(_names())}, or a file whose name ends in .toml"
        raise RuleFileError(f"no ruleset {source[:80]!r}; {guess}{known}")
    return _File(Path(source)).book()


def _names() -> list[str]:
    return list(plugins.found(plugins.RULESETS))


def _nearest(word: str, words: Iterable[str]) -> str:
    words = list(words)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(words)}"


def _is_a(kind: type, value: Any) -> bool:
    """Whether a value has exactly this type: true is not 1."""
    return type(value) is kind


class _File:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._text, self._given = read_toml(path, RuleFileError)

    def book(self) -> RuleBook:
        for key, value in self._given.items():
            self._check(key, value)
        like = self._like()
        if like is None:
            missing = [key for key in _NEEDED if key not in self._given]
            if missing:
                text = f"{missing[0]} is missing; write it, or like = NAME to take it from a book"
                raise RuleFileError(f"{self._path}: {text}: {', '.join(_names())}")
        if "name" not in self._given:
            raise RuleFileError(f"{self._path}: name is missing; /game/rules calls these rules by it")
        book = self._build(like)
        self._check_room(book)
        return book

    def _check(self, key: str, value: Any) -> None:
        if key not in _TYPES:
            raise self._error(key, f"{key!r} is not a key of a ruleset; {_nearest(key, _TYPES)}")
        kind = _TYPES[key]
        if not _is_a(kind, value):
            raise self._error(key, f"{key} is {value!r:.60}; it is {_IN_WORDS[kind]}")
        if key == "name" and (_NAME.fullmatch(value) is None or value in _names()):
            raise self._error(key, f"name is {value[:60]!r}; it is 1..32 of a-z 0-9 _ -, and not {', '.join(_names())}")
        if key in _CHOICES and value not in set(_CHOICES[key]):
            raise self._error(key, f"{key} is {value[:60]!r}; {_nearest(value, _CHOICES[key])}")
        if key == "shots" and value == Shots.UNTIL_MISS:
            text = f"{key} is {value!r}, which is for old records; write shots = 'one' and order = '{Order.STREAK}'"
            raise self._error(key, text)
        for ship, length in value.items() if kind is dict else ():
            if not _is_a(int, length):
                raise self._error(ship, f"{ship} is {length!r:.60}; give its length, an integer")

    def _like(self) -> RuleBook | None:
        name = self._given.get("like")
        if name is not None and name not in _names():
            raise self._error("like", f"like is {name[:60]!r}; {_nearest(name, _names())}")
        return load_book(name) if name is not None else None

    def _build(self, like: RuleBook | None) -> RuleBook:
        given, values = self._given, {}
        for field in fields(RuleBook) if like is not None else ():
            if field.name not in _NOT_TAKEN_OVER:
                values[field.name] = getattr(like, field.name)
        values |= {key: _CHOICES[key](value) for key, value in given.items() if key in _CHOICES}
        values |= {key: given[key] for key in ("goal", "reveal", "skipping") if key in given}
        grid = like.grid if like is not None else Grid()
        fleet = like.fleet if like is not None else ()
        if "fleet" in given:
            fleet = tuple(ShipClass(ship, length) for ship, length in given["fleet"].items())
        try:
            grid = Grid(given.get("width", grid.width), given.get("height", grid.height))
        except ValueError as error:
            raise self._error("width" if "width" in given else "height", str(error)) from None
        try:
            make: Callable[..., RuleBook] = RuleBook
            return make(name=given["name"], grid=grid, fleet=fleet, **values)
        except UnplayableBook as error:
            raise self._error(error.field, error.text) from None

    def _check_room(self, book: RuleBook) -> None:
        """Refuse what clients would refuse: they draw the same layouts."""
        try:
            check_room(book, generator("room"))
        except ValueError:
            layout = f"{len(book.fleet)} ships, {book.spacing}, on {book.grid.width} x {book.grid.height} cells"
            text = f"too crowded: {layout}; of {MAX_TRIALS:,} fleets drawn at random none fitted, and bots draw theirs"
            raise self._error("fleet", f"{text}; take a larger grid, a smaller fleet, or closer spacing") from None

    def _error(self, key: str, text: str) -> RuleFileError:
        line = line_of(self._text, key)
        return RuleFileError(f"{self._path}, line {line}: {text}" if line else f"{self._path}: {text}")
