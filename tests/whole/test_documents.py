"""What the documents link to is there, and what they name exists."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from kit.documents import DOCS, GUIDES, README, ROOT, prose
from salvo import table_places
from salvo.bots import versions
from salvo.cli import cli
from salvo.messages import Limits
from salvo.rules.books import BOOKS
from salvo_display.web_server import own_page
from salvo_game.standings import chronicle
from salvo_lab.comparison import compare
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.core import chat_relay
from salvo_server.settings import ServerSettings
from salvo_server.storage.journal import locks
from salvo_server.storage.register import SCREENS
from salvo_watch.commands import web

SETTINGS = DOCS / "settings.md"
DOCUMENTS = (
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "proto").glob("*.md")),
    *sorted(ROOT.glob("*.md")),
)


def _name(document: Path) -> str:
    return str(document.relative_to(ROOT))


def _headings(document: Path) -> list[str]:
    return re.findall(r"^##+ (.+)$", prose(document), re.MULTILINE)


def _anchor(heading: str) -> str:
    """A heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _links(document: Path) -> list[str]:
    found = re.findall(r"\]\(([^()\s]+)\)", prose(document))
    return [link for link in found if not link.startswith(("http://", "https://"))]


def test_every_relative_link_leads_to_a_file_and_a_heading() -> None:
    for document in DOCUMENTS:
        for link in _links(document):
            path, _, anchor = link.partition("#")
            target = (document.parent / path).resolve() if path else document
            assert target.exists(), (_name(document), link)
            assert not anchor or anchor in map(_anchor, _headings(target)), (_name(document), link)


def test_every_file_of_the_project_that_is_named_exists() -> None:
    named = r"(?:`|\| )((?:tests|server|client_sdk|proto|docs|deploy|examples)/[\w./-]*\w)[`,; ]"
    found = [(_name(document), path) for document in DOCUMENTS for path in re.findall(named, prose(document))]
    assert [each for each in found if not (ROOT / each[1]).exists()] == []


def test_every_page_is_in_the_contents_of_the_site_and_on_its_first_page() -> None:
    contents = re.findall(r"file: (docs/\S+)", (DOCS / "_toc.yml").read_text())
    pages = {str(page.relative_to(ROOT).with_suffix("")) for page in DOCS.rglob("*.md")} - {"docs/index"}
    assert sorted(contents) == sorted(pages)
    assert pages <= {f"docs/{link.partition('.md')[0]}" for link in _links(DOCS / "index.md")}


def _claims() -> dict[str, list[tuple[Path, str]]]:
    """Phrases with numbers, written from the code, and the documents that have them, by what they are about."""
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rulesets = len(BOOKS)
    settings = {name: field.default for name, field in ServerSettings.model_fields.items()}
    comparison = inspect.signature(compare).parameters
    pause = int(1 / chat_relay.LINES_A_SECOND)
    percent, margin = comparison["confidence"].default, comparison["margin"].default
    return {
        "rulesets": [
            (README, f"{words[rulesets - 1].title()} other rulesets come with Salvo"),
            (DOCS / "rules.md", f"one of {words[rulesets]} rulesets"),
            (SETTINGS, f"another of the {words[rulesets]} rulesets"),
            (ROOT / "proto/README.md", f"{words[rulesets].title()} rulesets come with Salvo"),
        ],
        "a comparison": [
            (
                DOCS / "statistics.md",
                f"better with {percent:.0%} confidence, when the difference is certainly within {margin:.0%}",
            ),
            (DOCS / "statistics.md", f"or after {comparison['games'].default:,} games"),
        ],
        "a bot's folder": [
            (DOCS / "measure.md", f"up to {versions.MAX_FILES:,} files and {versions.MAX_BYTES // 10**6} MB")
        ],
        "chat": [
            (
                DOCS / "bot.md",
                f"{words[chat_relay.LINES_AT_ONCE]} lines at once and then one every {words[pause]} seconds",
            ),
        ],
        "viewers of an account": [
            (DOCS / "join.md", f"`red.1` to `red.{SCREENS}`"),
            (DOCS / "accounts.md", f"`red.1` to `red.{SCREENS}`"),
            (DOCS / "accounts.md", f"`projector.1` to `projector.{SCREENS}`"),
        ],
        "watching in a browser": [
            (
                DOCS / "scale.md",
                f"at most {table_places.MAX_TABLES:,} tables, and admits {web.MAX_CONNECTIONS:,} streams",
            ),
            (DOCS / "watching.md", f"which admits {web.MAX_CONNECTIONS:,}"),
        ],
        "a person's page": [(DOCS / "clicking.md", f"within {own_page.KEY_SECONDS:.0f} seconds")],
        "subscriptions": [(DOCS / "attacks.md", f"at most {BrokerLimits().subscriptions} filters")],
        "the owner of a journal": [(DOCS / "standby.md", f"received nothing for {locks.LEASE_SECONDS} s")],
        "the clock": [(DOCS / "join.md", f"{settings['turn_seconds']} seconds for a salvo by default")],
        "a result": [(DOCS / "first-client.md", f"shown for {words[settings['over_seconds'] // 60]} minutes")],
        "turns without a shot": [
            (DOCS / "join.md", f"After {words[Limits().empty_turns]} turns in a row without a shot")
        ],
        "standings": [
            (DOCS / "standings.md", f"the best {chronicle.MOST_ROWS} teams"),
            (
                DOCS / "standings.md",
                f"after {words[chronicle.EVENING_GAP_MS // 3_600_000]} hours without a finished game",
            ),
        ],
    }


@pytest.mark.parametrize("about", _claims())
def test_a_number_in_a_guide_is_that_of_the_code(about: str) -> None:
    for document, phrase in _claims()[about]:
        assert phrase in " ".join(document.read_text().split()), f"{_name(document)} should have: {phrase}"


def _printer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("print_settings", ROOT / "docs" / "print_settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_help_and_the_documented_table_agree_on_every_setting(commands: dict[tuple[str, ...], click.Command]) -> None:
    options = {each.name: each for each in commands[("serve",)].params if isinstance(each, click.Option)}
    rows = re.findall(r"^\| `(\w+)` \| `(--.+?)` \| (.*?) \| (.*?) \| (.+) \|$", SETTINGS.read_text(), re.MULTILINE)
    assert {name for name, *_ in rows} == ServerSettings.model_fields.keys() == options.keys() - {"config", "help"}
    for name, option, values, default, sentence in rows:
        shown = options[name].help or ""
        assert options[name].opts == [option]
        assert sentence[1:] in shown
        assert options[name].is_flag or default in shown
        assert options[name].is_flag or values in shown or not values[0].isdigit()


def test_the_table_of_settings_is_that_of_the_server() -> None:
    text = SETTINGS.read_text()
    assert "| `over_seconds` | `--over-seconds` | 1 to 86400 s | 300; " in text
    assert _printer().printed(text) == text, "python docs/print_settings.py"


def test_messages_that_the_guides_quote_are_those_of_the_program() -> None:
    source = "".join(file.read_text() for part in ("client_sdk", "server") for file in (ROOT / part).rglob("*.py"))
    guides = "".join((DOCS / f"{name}.md").read_text() for name in ("join", "troubleshooting"))
    quoted = re.findall(r'^\| "(.+?)"', guides, re.MULTILINE)
    assert len(quoted) == 6
    for part in {part.strip() for text in quoted for part in text.split("...")} - {""}:
        assert part.removeprefix("; ") in source, part


def _options(command: click.Command) -> set[str]:
    return {"--help"}.union(*([*each.opts, *each.secondary_opts] for each in command.params))


def _commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command by the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*before, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*before, name))


@pytest.fixture(scope="module")
def commands() -> dict[tuple[str, ...], click.Command]:
    return dict(_commands(cli))


def test_options_that_are_named_in_prose_exist(commands: dict[tuple[str, ...], click.Command]) -> None:
    of_any = _options(cli).union(*map(_options, commands.values()))
    spans = [(guide, span) for guide in DOCUMENTS for span in re.findall(r"`([^`\n]+)`", prose(guide))]
    for guide, span in spans:
        words = re.split("'exec:| -- ", span)[0].removeprefix("salvo ").split()  # what follows is another program's
        command = commands.get(tuple(words[:2])) or commands.get(tuple(words[:1]))
        if command is not None or (span.startswith("--") and guide in GUIDES):
            known = of_any if command is None else _options(command)
            assert {word for word in words if word.startswith("--")} <= known, (_name(guide), span)
