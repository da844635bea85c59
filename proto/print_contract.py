"""Print the generated parts of the documents: ``python proto/print_contract.py`` rewrites them in place.

They are the tables and examples of proto/README.md, examples of docs/first-client.md, a table of CONTRIBUTING.md,
the codes of docs/reference/errors.md, what docs/bot.md lists of a view and of a bot, and the
claims of docs/check.md.
"""

from __future__ import annotations

import inspect
import re
import runpy
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import indent
from typing import Any

from diagram import edges
from salvo.bots.player import Bot
from salvo.errors import CODES
from salvo.join.session.tables import FOLLOWING, JOINING, PLACING, PLAYING, RETURNING, SERVER
from salvo.messages import State
from salvo.rules import BOOKS, RuleBook
from salvo.rules.board import BoardRules
from salvo.state_machine import Transition, markdown
from salvo.view import View
from salvo.wire.topics import TOPICS
from salvo_game.transitions import STATES, TABLE, Decision, RefereeEvent, RefereeState
from salvo_server.core.outages import OUTAGES

README = Path(__file__).parent / "README.md"
ERROR_CODES = README.with_name("error_codes.toml")
CONTRIBUTING = README.parents[1] / "CONTRIBUTING.md"
TUTORIAL = README.parents[1] / "docs" / "first-client.md"
LOCAL_ERRORS = README.parents[1] / "docs" / "reference" / "errors.md"
BOTS = README.parents[1] / "docs" / "bot.md"
CHECK = README.parents[1] / "docs" / "check.md"  # not there without the annex salvo_audit
DOCUMENTS = (README, TUTORIAL, CONTRIBUTING, LOCAL_ERRORS, BOTS, *(page for page in (CHECK,) if page.exists()))


def topics() -> str:
    """The topic table; ``{T}`` is the table's prefix."""
    rows = ["| topic | published by | read by | retained | payload | |", "|---|---|---|---|---|---|"]
    for topic in TOPICS:
        pattern = topic.pattern.replace("{player}", "<p>").replace("{ship}", "<ship>")
        retained = "yes" if topic.retained else "no"
        rows.append(
            f"| `{{T}}{pattern}` | {topic.publisher} | {topic.reader} | {retained} | {topic.payload} | {topic.source} |"
        )
    return "\n".join(rows)


def states() -> str:
    """The state diagram, drawn and in plain text, and what follows from every input in every state."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> lobby"]
    lines += [f"    {edge.source} --> {edge.target}: {edge.event} ({edge.sentence})" for edge in edges()]
    lines += ["```", "", "The same as text:", "", "```text", *plain_states(), "```", ""]
    lines += [f"| input | {' | '.join(state.__name__.lower() for state in STATES)} |", "|---|" + "---|" * len(STATES)]
    lines += [f"| {event} | {' | '.join(cell(state, event) for state in STATES)} |" for event in RefereeEvent]
    return "\n".join(lines)


def cell(state: type[RefereeState], event: RefereeEvent) -> str:
    """What follows from one input in one state."""
    transition = TABLE[state][event]
    codes = ", ".join(f"`{code}`" for code in transition.codes)
    if transition.decision is Decision.REFUSED:
        return f"{codes} ({transition.sentence})"
    text = str(transition.decision)
    if transition.targets:
        names = dict.fromkeys(target.state.__name__.lower() for target in transition.targets)
        text += f", then {' or '.join(names)}"
    if codes:
        text += f"; {'with' if event is RefereeEvent.DEADLINE else 'or'} {codes}"
    return f"{text} ({transition.sentence})"


def plain_states() -> list[str]:
    """The state diagram in text: the states in a column, the way back to the first one at its left.

    Raises:
        ValueError: an edge is no loop, no step to the next state and not the way back, so it has no place here.
    """
    column = list(State)
    chart: list[str] = []
    for state, below in zip(column, [*column[1:], column[0]], strict=True):
        leaving = [edge for edge in edges() if edge.source is state]
        loops = [f"{edge.event} ({edge.sentence})" for edge in leaving if edge.target is state]
        steps = [f"{edge.event} ({edge.sentence})" for edge in leaving if edge.target is below]
        if len(loops) > 1 or len(loops) + len(steps) != len(leaving):
            raise ValueError(f"no room for every edge that leaves {state}")
        first, last = state is column[0], state is column[-1]
        margin = "    " if first else "|   "
        chart += [f"{margin}+---------+", f"{'+-->' if first else '|   '}|{state:^9}|" + "---+" * bool(loops)]
        chart[-1] += "".join(f"  {loop}" for loop in loops)
        chart += ["|   +---------+" + "<--+" * bool(loops)]
        chart += [f"|        |  {step}" for step in steps]
        chart += ["+--------+" if last else "|        v"]
    return chart


def errors() -> str:
    """The table of the codes that travel."""
    fixes = tomllib.loads(ERROR_CODES.read_text())["fixes"]
    return _table(
        ("code", "cause", "fix", "answered", "requirement"),
        ((f"`{name}`", code.meaning, fixes[name], str(code.answered), code.sentence) for name, code in CODES.items()),
    )


def local_errors() -> str:
    """The table of the codes that a program reports by itself."""
    local = tomllib.loads(ERROR_CODES.read_text())["local"]
    return _table(("code", "cause", "fix"), ((f"`{name}`", cause, fix) for name, (cause, fix) in local.items()))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


#: The machines of a client, by what they are about.
MACHINES: dict[str, tuple[Transition[Any, Any, Any], ...]] = {
    "Joining: the request to take part": JOINING,
    "Placing: the fleet": PLACING,
    "Playing: the turns": PLAYING,
    "Returning: the recap after an absence": RETURNING,
    "Following: the state of the table": FOLLOWING,
    "The server": SERVER,
}


def client() -> str:
    """The transition tables of our client: its states, then what each event does in them."""
    return "\n".join(machine(title, transitions) for title, transitions in MACHINES.items())


def machine(title: str, transitions: Sequence[Transition[Any, Any, Any]]) -> str:
    """One machine's states and transitions."""
    states = type(transitions[0].sources[0])
    lines = [f"### {title}", "", "| state | meaning |", "|---|---|"]
    lines += [f"| `{state.name.lower()}` | {state.value} |" for state in states]
    return "\n".join([*lines, "", markdown(transitions, "the client"), ""])


def outages() -> str:
    """What the server's loop does in an outage."""
    return markdown(OUTAGES, "the server")


def claims() -> str:
    """What a client may claim, without the rulesets."""
    from salvo_audit.check.catalog import CLAIMS

    return _table(
        ("claim", "what it says"), ((f"`{name}`", said) for name, said in CLAIMS.items() if name not in BOOKS)
    )


def rulesets() -> str:
    """The rulesets that come with Salvo, by the keys of ``/game/rules``."""
    keys = (
        "spacing",
        *(each.name for each in fields(RuleBook) if each not in fields(BoardRules) and each.name != "goal"),
    )
    fleets = ("fleet", *(" ".join(str(ship.length) for ship in book.fleet) for book in BOOKS.values()))
    rows = ((f"`{key}`", *(_value(getattr(book, key)) for book in BOOKS.values())) for key in keys)
    return _table(("", *(f"`{name}`" for name in BOOKS)), (fleets, *rows))


def _value(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else f"`{value}`"


def view() -> str:
    """What a bot may read of its view."""
    listed = (inspect.getdoc(View) or "").partition("Attributes:\n")[2]
    attributes = re.findall(r"^ {4}(\w+): (.+?)(?=^ {4}\w+:|\Z)", listed, re.MULTILINE | re.DOTALL)
    return _table(("of `view`", ""), [*((f"`{name}`", _code(text)) for name, text in attributes), *_members(View)])


def bot() -> str:
    """What a bot may do, and when it is called."""
    return _table(("of `salvo.Bot`", ""), _members(Bot))


def _members(kind: type) -> list[tuple[str, str]]:
    """Every public property and method, with its arguments, and the first sentence of its docstring."""
    found = []
    for name, value in vars(kind).items():
        if name[0] == "_" or (not isinstance(value, property) and not inspect.isfunction(value)):
            continue
        call = name
        if inspect.isfunction(value):
            given = [each.replace(annotation=each.empty) for each in inspect.signature(value).parameters.values()][1:]
            call += f"({', '.join(map(str, given))})"
        text = re.sub(r"\n\n(Raises|Args):\n.*?(?=\n\n|\Z)", "", inspect.getdoc(value) or "", flags=re.DOTALL)
        found.append((f"`{call}`", _code(text)))
    return found


def _code(text: str) -> str:
    """A docstring's text as a cell of a table."""
    line = " ".join(text.replace("``", "`").split()).removesuffix(".")
    return line[0].lower() + line[1:]


PRINTED = {
    "claims": claims,
    "rulesets": rulesets,
    "view": view,
    "bot": bot,
    "states": states,
    "client": client,
    "topics": topics,
    "errors": errors,
    "local_errors": local_errors,
    "outages": outages,
}


def printed(text: str) -> str:
    """Return a document with its tables and examples printed again."""
    for name, write in PRINTED.items():
        text = _filled(text, name, lambda _, write=write: write())  # type: ignore[misc]
    examples = runpy.run_path(str(README.with_name("print_examples.py")))["EXAMPLES"]
    return _filled(text, r"example (SALVO-[A-Z]+-\d+)", lambda name: f"```text\n{examples[name]()}\n```")


def _filled(text: str, name: str, write: Callable[[str], str]) -> str:
    """Fill every section of this name, which may be indented."""
    section = re.compile(rf"^( *)<!-- ({name}) -->\n.*?<!-- /\2 -->", re.DOTALL | re.MULTILINE)

    def fill(found: re.Match[str]) -> str:
        margin, head = found[1], found[2]
        written = indent(write(head.rpartition(" ")[2]), margin)
        return f"{margin}<!-- {head} -->\n{written}\n{margin}<!-- /{head} -->"

    return section.sub(fill, text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(printed(document.read_text()))
