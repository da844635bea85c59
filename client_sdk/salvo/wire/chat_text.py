"""What a chat line may contain: one line that every screen can show (SALVO-CHAT-3)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from salvo.errors import WireError

#: Characters in a chat line, before and after normalisation; two lines of a terminal.
MAX_TEXT_LENGTH: Final = 200

#: Control characters, halves of surrogate pairs, and what ends a line.
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
#: Embeddings, overrides and isolates: they reverse what a screen shows after them.
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: The same in one expression, and what a payload has that may contain any of it: all but printable ASCII, and escapes.
_REFUSED: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]")
_DOUBTFUL: Final = re.compile(rb"[^ -~]|\\")
#: Characters of a text of any other message: more than any has but a board, which is no text.
MOST_SHOWN: Final = 1000
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


def check_shown(payload: bytes, *, is_json: bool = True, longest: int = MOST_SHOWN) -> None:
    """Make sure that no text of what a server has published controls a terminal, turns lines around or fills it.

    Bots and programs print names. Right ones have nothing of that kind; on an open broker, anyone writes some.

    Args:
        payload: what was read already, and so is valid.
        is_json: whether it is JSON; else it is one text.
        longest: of a text, in characters.

    Raises:
        WireError: ``wrong_shape``.
    """
    if not _DOUBTFUL.search(payload) and len(payload) <= longest:
        return
    for each in _texts(json.loads(payload)) if is_json else [payload.decode()]:
        if len(each) > longest:
            raise WireError("wrong_shape", f"a text of {len(each)} characters; none has more than {longest}")
        if refused := _REFUSED.search(each):
            letter = f"U+{ord(refused[0]):04X}"
            raise WireError("wrong_shape", f"{letter} in a text; none has control characters or changes of direction")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
