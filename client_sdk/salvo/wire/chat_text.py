"""What a chat line may contain: one line that every screen can show (SALVO-CHAT-3)."""

from __future__ import annotations

import unicodedata
from typing import Final

from salvo.errors import WireError

#: Characters in a chat line, before and after normalisation; two lines of a terminal.
MAX_TEXT_LENGTH: Final = 200

#: Control characters, halves of surrogate pairs, and what ends a line.
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
#: Embeddings, overrides and isolates: they reverse what a screen shows after them.
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: What is invisible by itself: format characters, combining marks, spaces.
_UNSEEN_CATEGORIES: Final = frozenset({"Cf", "Mn", "Me", "Zs"})


def clean_text(text: str) -> str:
    """Return a text as it is sent: without trailing white space, normalised (NFC).

    Raises:
        WireError: ``bad_text``.
    """
    text = text.rstrip()
    _check_length(text)  # first: normalising a long run of combining marks is slow
    text = unicodedata.normalize("NFC", text)
    check_text(text)
    return text


def check_text(text: str) -> None:
    """Check a received text; normalisation, which depends on the version of Unicode, is not checked.

    Raises:
        WireError: ``bad_text``.
    """
    _check_length(text)
    categories = [unicodedata.category(letter) for letter in text]
    for letter, category in zip(text, categories, strict=True):
        if category in _REFUSED_CATEGORIES or letter in _TURNS:
            raise WireError(
                "bad_text",
                f"U+{ord(letter):04X} in it; a line has no control characters, line ends or changes of direction",
            )
    if _UNSEEN_CATEGORIES.issuperset(categories):
        raise WireError("bad_text", "nothing in it can be seen; a line has one visible character at least")


def _check_length(text: str) -> None:
    if not 1 <= len(text) <= MAX_TEXT_LENGTH:
        raise WireError(
            "bad_text", f"{len(text)} characters without trailing white space; a line has 1..{MAX_TEXT_LENGTH}"
        )
