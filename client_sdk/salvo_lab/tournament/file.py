"""The TOML file of a tournament.

    name = "spring cup"
    format = "swiss"         # round_robin, swiss, free_for_all
    games = 10               # of each pairing, or table

    [bots]                   # by name; a bot is what `salvo play` takes
    mine = "mybot.py"
    hunter = "hunter"

    [time]
    decision_seconds = 2

Every value is looked at: a mistake names file, line and the nearest thing that exists.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from salvo.errors import SalvoError
from salvo.rules import RuleBook
from salvo.rules.files import RuleFileError, load_book
from salvo.system.distribution import __version__
from salvo.system.text_files import line_of, read_text, read_toml
from salvo_lab.loaded_code import digest_of

#: Bots of a file; that many make 2,016 pairs.
MAX_BOTS: Final = 64
#: Players of a game.
MAX_SEATS: Final = 8
M = TypeVar("M", bound="Model")


class TournamentError(SalvoError):
    """``bad_tournament``: a file that is not a tournament, or a bot of it that cannot play."""


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round_robin"  # each against each
    SWISS = "swiss"  # in each round those who are about equal, and no pair twice if possible
    FREE_FOR_ALL = "free_for_all"  # several at a table


def _whole(value: object) -> object:
    """Refuse true and 2.0, which pydantic would take for integers."""
    if type(value) is not int:
        raise PydanticCustomError("integer", "input should be an integer")
    return value


def number(value: object) -> object:
    if type(value) not in (int, float):
        raise PydanticCustomError("number", "input should be a number")
    return value


def _text_or_integer(value: object) -> str:
    if type(value) not in (int, str):
        raise PydanticCustomError("seed", "input should be an integer or a text")
    return str(value)


WholeNumber = Annotated[int, BeforeValidator(_whole)]
Seconds = Annotated[float, BeforeValidator(number), Field(ge=0.01, le=3600, allow_inf_nan=False)]
#: A bot's name in a tournament.
NAME: Final = re.compile(r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,31}$")
Name = Annotated[str, Field(pattern=NAME.pattern)]


Seed = Annotated[str, BeforeValidator(_text_or_integer), Field(pattern=r"^[!-~]{1,64}$")]


class Model(BaseModel):
    """What a file has, or a table of it; nothing else may stand there."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeRules(Model):
    """How long a bot's salvos may take, wall time in seconds, and how often it may fail.

    Attributes:
        decision_seconds: of a salvo.
        bank_seconds: of all salvos of a game.
        strikes: with this many the bot is out of that game: it fires no more shots.
    """

    decision_seconds: Seconds = 5.0
    bank_seconds: Seconds = 60.0
    strikes: Annotated[WholeNumber, Field(ge=1, le=1000)] = 3


class Tournament(Model):
    """The content of a file.

    Attributes:
        bots: source by name.
        games: of each pairing, or of each table of a round.
        rounds: of swiss and free for all; as many as the format needs when not given.
        seats: the most players of a game in free for all; all bots, up to 8, when not given.
        seed: decides all that is drawn; empty when the file has none: then the first run draws a secret one.
        sandbox: whether files, folders and commands play in a sandbox.
        entrants: of a folder, all that ever played, in the order in which they came: matches keep their numbers. None
            of a file.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)]
    format: Format = Format.ROUND_ROBIN
    games: Annotated[WholeNumber, Field(ge=1, le=100_000)] = 2
    rounds: Annotated[WholeNumber, Field(ge=1, le=1000)] | None = None
    seats: Annotated[WholeNumber, Field(ge=3, le=MAX_SEATS)] | None = None
    rules: str = "salvo"
    seed: Seed = ""
    sandbox: bool = False
    time: TimeRules = TimeRules()
    bots: Annotated[dict[Name, Annotated[str, Field(min_length=1)]], Field(min_length=2, max_length=MAX_BOTS)]

    _entrants: tuple[str, ...] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.rounds is not None and self.format is Format.ROUND_ROBIN:
            raise PydanticCustomError("rounds", "round_robin has as many rounds as it needs; leave rounds out")
        if self.seats is not None and self.format is not Format.FREE_FOR_ALL:
            raise PydanticCustomError("seats", "seats belongs to free_for_all; others have two players a game")
        if self.seats is not None and self.seats > len(self.bots):
            raise PydanticCustomError("seats", f"the file names only {len(self.bots)} bots")
        return self

    @cached_property
    def book(self) -> RuleBook:
        """The rules.

        Raises:
            RuleFileError: there are none such.
        """
        return load_book(self.rules)

    @property
    def number_of_rounds(self) -> int:
        """Rounds, said or as the format needs them: swiss ends when one can have won all."""
        if self.format is Format.ROUND_ROBIN:
            return 1
        if self.rounds is not None:
            return self.rounds
        if self.format is Format.SWISS:
            return math.ceil(math.log2(len(self.bots)))
        return 1 if self.most_seats >= len(self.bots) else len(self.bots)

    @property
    def most_seats(self) -> int:
        """Players of a game, of the largest table."""
        if self.format is not Format.FREE_FOR_ALL:
            return 2
        return self.seats or min(len(self.bots), MAX_SEATS)

    @property
    def entrants(self) -> tuple[str, ...] | None:
        return self._entrants

    def of_folder(self, entrants: tuple[str, ...]) -> Self:
        """Return the same tournament with those that ever played in its folder."""
        copy = self.model_copy()
        copy._entrants = entrants
        return copy

    def without(self, name: str, came: Iterable[str]) -> Self:
        """Return the tournament of a folder without a bot.

        Args:
            came: those that its record has, in the order in which they came; the next run counts no others.
        """
        bots = {bot: source for bot, source in self.bots.items() if bot != name}
        return self.model_copy(update={"bots": bots}).of_folder(tuple(dict.fromkeys([*came, *bots])))

    def with_seed(self, seed: str) -> Self:
        """Return the same tournament with the seed that was drawn for it."""
        return self.model_copy(update={"seed": seed})

    def settings(self) -> dict[str, Any]:
        """Return what must be the same in all games of a tournament, by subject; the code of bots may change."""
        values = self.model_dump(mode="json")
        same = {
            "bots": list(self.bots) if self.entrants is None else [],
            "rules file": digest_of(self.rules),
            "salvo": __version__,
        }
        return values | same


def load_tournament(path: Path) -> Tournament:
    """Return the tournament of a file. Whether its bots can be loaded is not looked at here.

    Raises:
        TournamentError: ``bad_tournament``; the text names file and line.
    """
    tournament = TOURNAMENT.load(path)
    try:
        _ = tournament.book
    except RuleFileError as error:
        raise mistake(path, read_text(path), "rules", error.text) from None
    return tournament


def mistake(path: Path, text: str, key: str, problem: str, table: str = "") -> TournamentError:
    """Return an error with the line of a file that says a key."""
    return TournamentError("bad_tournament", at_line(path, text, key, problem, table))


def at_line(path: Path, text: str, key: str, problem: str, table: str = "") -> str:
    """Return what is wrong behind the line of a file that says a key."""
    line = line_of(text, key, table) or (line_of(text, table) if table else 0)
    return f"{path}, line {line}: {problem}" if line else f"{path}: {problem}"


@dataclass(frozen=True, slots=True)
class Kind(Generic[M]):
    """A kind of file, and how its mistakes are told.

    Attributes:
        model: of its whole content.
        tables: models by table; None for one whose keys are names.
        what: with its article.
        error: makes the error from a text.
        most: the range of a number of entries, by table.
    """

    model: type[M]
    tables: Mapping[str, type[Model] | None]
    what: str
    error: Callable[[str], SalvoError]
    most: Mapping[str, str]

    def load(self, path: Path) -> M:
        """Return the content of a file.

        Raises:
            SalvoError: what :attr:`error` makes; the text names file and line.
        """
        return self.of(path, *read_toml(path, self.error))

    def of(self, path: Path, text: str, values: Mapping[str, Any], within: str = "") -> M:
        """Return what a file's values are.

        Args:
            within: the table of the file that they stand in; empty for the whole file.

        Raises:
            SalvoError: what :attr:`error` makes; the text names file and line.
        """
        try:
            return self.model(**values)
        except ValidationError as error:
            key, problem, table = self._complaint(values, error.errors(include_url=False)[0])
            where = ".".join(filter(None, (within, table)))
            raise self.error(at_line(path, text, key, problem, where)) from None

    def _complaint(self, values: Mapping[str, Any], error: ErrorDetails) -> tuple[str, str, str]:
        """Return the key, what is wrong with it, and the table that it is in."""
        place = [str(part) for part in error["loc"] if part != "[key]"]
        if not place:  # of several keys together
            key = error["type"]
            return key, f"{key} is {values.get(key)!r}; {error['msg']}", ""
        where, first = ".".join(place[:2]), place[0]
        table = first if len(place) > 1 and first in self.tables else ""
        key = place[-1] if table else first  # an item of a list is told with its list
        match error["type"]:
            case "missing":
                return key, f"{where} is missing", table
            case "extra_forbidden":
                keys = list((self.tables.get(table) or self.model).model_fields)
                near = difflib.get_close_matches(key, keys, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(keys)}"
                return key, f"{key!r} is not a key of {self.what}; {hint}", table
            case "string_pattern_mismatch" if table and self.tables[table] is None:
                allowed = "it is 1..32 letters, digits, blanks and _ . -, and begins with a letter or digit"
                return key, f"the {table.removesuffix('s')}'s name is {key[:60]!r}; {allowed}", table
            case "string_pattern_mismatch":
                return key, f"{where} is {error['input']!r:.60}; it is 1..64 ASCII characters, no blanks", ""
            case "too_short" | "too_long" if key in self.most:
                return key, f"{len(error['input'])} {key}; {self.what} has {self.most[key]}", table
        return key, f"{where} is {error['input']!r:.60}; {error['msg'].lower()}", table


#: The file of ``salvo tournament``.
TOURNAMENT: Final = Kind(
    Tournament,
    {"time": TimeRules, "bots": None},
    "a tournament",
    partial(TournamentError, "bad_tournament"),
    {"bots": f"2..{MAX_BOTS}"},
)
