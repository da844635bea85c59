"""Render pages from templates, with a policy that allows the page's own style and script only."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

#: Letters at the end of a name that has no room.
_TAIL: Final = 3
_POLICY: Final = re.compile('<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def render(template: str, **given: object) -> str:
    """Return a page made from a template; values are escaped, and a name that is not given is an error.

    Args:
        template: its package and path, such as ``salvo_display/web_page/page.html.j2``.
    """
    return _environment().get_template(template).render(given)


def policy(style: str, script: str = "", *more: str, forms: str = "'none'") -> str:
    """Return the content security policy of a page: its own inline style and script, and nothing else.

    Args:
        more: directives that this page needs besides.
        forms: where its forms may lead.
    """
    scripts = [f"script-src {_hashed(script)}"] if script else []
    own = ["default-src 'none'", f"style-src {_hashed(style)}", *scripts, *more]
    return "; ".join([*own, "base-uri 'none'", f"form-action {forms}"])


def policy_of(page: str) -> str:
    """Return the policy that is in a page, for the header that it is served with."""
    found = _POLICY.search(page)
    assert found is not None
    return found[1]


def shortened(name: str, most: int = 8) -> str:
    """Return a name as text without its middle if it is longer: names of one team's bots differ at the end."""
    return name if len(name) <= most else f"{name[: most - _TAIL - 1]}…{name[-_TAIL:]}"


def _hashed(inline: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


def _template(name: str) -> str:
    package, _, path = name.partition("/")
    return files(package).joinpath(path).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    import jinja2  # slow to import, and most commands make no page

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters["shortened"] = shortened
    return made
