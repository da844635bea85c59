"""The rulesets that ship: one module each, with the rules in prose at the top and as data below."""

from __future__ import annotations

from salvo.rules.book import RuleBook
from salvo.rules.books.alternate import ALTERNATE
from salvo.rules.books.apart import APART
from salvo.rules.books.pomcp import POMCP
from salvo.rules.books.salvo import SALVO
from salvo.rules.books.scattered import SCATTERED
from salvo.rules.books.smackdown import SMACKDOWN
from salvo.rules.books.spaced import SPACED
from salvo.rules.books.standard import STANDARD
from salvo.rules.books.streak import STREAK
from salvo.rules.books.xbs import XBS

#: By the name that ``--rules`` takes; the first one is played when none is named.
BOOKS: dict[str, RuleBook] = {
    book.name: book for book in (SALVO, SMACKDOWN, XBS, STREAK, ALTERNATE, SPACED, STANDARD, APART, SCATTERED, POMCP)
}

__all__ = [
    "ALTERNATE",
    "APART",
    "BOOKS",
    "POMCP",
    "SALVO",
    "SCATTERED",
    "SMACKDOWN",
    "SPACED",
    "STANDARD",
    "STREAK",
    "XBS",
]
