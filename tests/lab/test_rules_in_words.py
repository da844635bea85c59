"""Rules as sentences: who reads nothing else can play by them."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import StrEnum
from typing import Any

import pytest

from salvo.rules import BOOKS, SALVO, STANDARD, Ending, Repeats, RuleBook
from salvo_lab.human.language_model.rules_in_words import rules_in_words


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_every_rule_is_in_the_words_of_every_ruleset(book: RuleBook) -> None:
    text = " ".join(rules_in_words(book))
    for word in ("shot", "hit", "sunk", "win", *(f"{ship.name} of {ship.length} cell" for ship in book.fleet)):
        assert word in text


def test_rulesets_that_differ_have_other_words() -> None:
    said = {" ".join(rules_in_words(book)) for book in BOOKS.values()}
    assert len(said) == len(BOOKS)


def test_a_rule_that_no_ruleset_has_is_in_the_words_too() -> None:
    kinds = {type(value) for field in fields(SALVO) if isinstance(value := getattr(SALVO, field.name), StrEnum)}
    for kind in kinds - {Ending}:  # whose other value needs a goal
        name = next(field.name for field in fields(SALVO) if type(getattr(SALVO, field.name)) is kind)
        said = {" ".join(_with(name, value)) for value in kind}
        assert len(said) == len(kind)
    assert len(kinds) > 5


def _with(name: str, value: StrEnum) -> list[str]:
    changed: dict[str, Any] = {"repeats": Repeats.HIT, name: value}
    return rules_in_words(replace(STANDARD, **changed))


def test_the_time_of_a_turn_is_in_the_words_where_a_clock_runs() -> None:
    assert any("30 seconds" in line for line in rules_in_words(SALVO, 30))
    assert not any("seconds" in line for line in rules_in_words(SALVO))
