"""Fleets and views of a person at the desk."""

from __future__ import annotations

from random import Random

from salvo.rules import BOOKS, Fleet, Orientation, Placement, RuleBook, own_seed
from salvo.view import Feed, View
from salvo_lab.bots.random_bot import RandomBot


def fleet_in_rows(book: RuleBook) -> Fleet:
    """Every ship in a row of its own, from column 1 on; of more than five, two in a row."""
    rows = [1, 3, 5, 7, 9]
    places = [
        Placement(ship.name, 1 if number < 5 else 7, rows[number % 5], Orientation.HORIZONTAL)
        for number, ship in enumerate(book.fleet)
    ]
    return Fleet(book, places)


def fleet_of_random(book: RuleBook, seed: str, game: int = 1, name: str = "random") -> Fleet:
    """The fleet of the bot of that name, drawn as the arena, or the SDK in a contest, draws it."""
    bot = RandomBot()
    bot.prepare(name, own_seed(seed, name, game), game)
    return bot.place_fleet(book)


def view_of(name: str, *rivals: str) -> View:
    book = BOOKS[name]
    view = View(book, "me", ("me", *(rivals or ("ann",))), 1, fleet_in_rows(book), Random(0))
    Feed(view).begin_turn(1, book.longest_salvo)
    return view
