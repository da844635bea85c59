"""The live page: what is in its file, and its script without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from programs import needs, path_of
from salvo import topics
from salvo.errors import ConnectionLost, WireError
from salvo.topics import TOPICS, Reader
from salvo_server.cli import cli
from salvo_server.spectate.live import live_page

_CHECKS = Path(__file__).with_name("live_page.js")


def _script(html: str) -> str:
    return html.partition("<script>")[2].partition("</script>")[0]


@cache
def _came() -> dict[str, str | None]:
    source = _script(live_page().html.decode()) + _CHECKS.read_text(encoding="utf-8")
    done = subprocess.run([path_of("node"), "-"], input=source, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    came: dict[str, str | None] = json.loads(done.stdout)
    return came


@pytest.mark.parametrize(
    "check", re.findall(r'^  "(.+)": \(\) => \{$', _CHECKS.read_text(encoding="utf-8"), re.MULTILINE)
)
@needs("node")
def test_of_the_script(check: str) -> None:
    assert _came()[check] is None, _came()[check]


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def test_the_page_is_one_file_that_may_run_its_own_script_and_ask_its_own_broker() -> None:
    page = live_page()
    html = page.html.decode()
    for tag, attributes in _Tags(html).found:
        assert "src" not in attributes, tag
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        assert attributes.get("href", "#").startswith(("#", "data:,")), tag  # type: ignore[union-attr]
    digest = base64.b64encode(hashlib.sha256(_script(html).encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in page.policy
    assert "connect-src 'self';" in page.policy
    assert "unsafe" not in page.policy
    assert f'content="{page.policy}"' in html


def test_strangers_words_get_into_the_page_as_text_only() -> None:
    script = _script(live_page().html.decode())
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)


@needs("node")
def test_the_page_asks_for_what_everybody_may_read_but_for_the_log_and_doubles() -> None:
    script = _script(live_page().html.decode())
    line = 'console.log(JSON.stringify([DISCOVERY, filtersOf(""), filtersOf("second")]))'
    said = subprocess.run(
        [path_of("node"), "-"], input=f"{script}\n{line}", capture_output=True, text=True, timeout=60
    ).stdout
    discovery, default, second = json.loads(said)
    unasked = {"log", "count", "current", "hits", "sunk_as_printed", "defeated_as_printed", "server", "request_error"}
    wanted = {topic.filter() for topic in TOPICS if topic.reader is Reader.EVERYBODY and topic.name not in unasked}
    assert set(default) == wanted | {topics.REFEREE.filter()}
    assert second == [f"/second{each}" for each in default]
    assert topics.SERVER.filter() in discovery


def test_a_page_for_another_broker_may_ask_that_one_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "live.html"
    words = ["watch", "wss://hall.example:9001/mqtt", "--table", "second", "--html", str(file)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    html = file.read_text(encoding="utf-8")
    assert "connect-src wss://hall.example:9001;" in html
    assert 'data-broker="wss://hall.example:9001/mqtt" data-table="second" data-login="try"' in html


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mqtt://hall", "is not ws://HOST:PORT or wss://HOST:PORT"),
        ("ws://hall:secret@host", "must hold no account"),
        ("ws://host;script-src *:80", "is not ws://HOST:PORT/PATH"),
    ],
)
def test_an_address_that_is_none_for_a_page_is_told_and_no_secret_is(tmp_path: Path, url: str, said: str) -> None:
    done = CliRunner().invoke(cli, ["watch", url, "--html", str(tmp_path / "live.html")])
    assert done.exit_code != 0
    assert isinstance(done.exception, ConnectionLost) or "bad_url" in done.output
    assert said in f"{done.output}{done.exception}"
    assert ":secret" not in f"{done.output}{done.exception}"
    assert not list(tmp_path.iterdir())


def test_a_table_that_cannot_be_is_told() -> None:
    with pytest.raises(WireError, match="bad_name"):
        live_page(table="a/b")
