"""Print tables of proto/README.md and CONTRIBUTING.md: ``python proto/print_contract.py`` rewrites them in place."""

from __future__ import annotations

import re
from pathlib import Path

from salvo.errors import CODES
from salvo.messages import State
from salvo.topics import TOPICS
from salvo_server.core.fates import FATES
from salvo_server.core.outages import OUTAGES
from salvo_server.core.referee import ACCEPTED, TRANSITIONS

README = Path(__file__).parent / "README.md"
CONTRIBUTING = README.parents[1] / "CONTRIBUTING.md"


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
    """The state diagram, drawn and in plain text, and what is accepted where."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> lobby"]
    lines += [f"    {t.source} --> {t.target}: {t.event} ({t.sentence})" for t in TRANSITIONS]
    lines += ["```", "", "The same without a program that draws:", "", "```text", *plain_states(), "```", ""]
    lines += ["| command | accepted in |", "|---|---|"]
    lines += [f"| {command.__name__} | {', '.join(sorted(states))} |" for command, states in ACCEPTED.items()]
    return "\n".join(lines)


def plain_states() -> list[str]:
    """The state diagram in text: the states in a column, the way back to the first one at its left.

    Raises:
        ValueError: a transition is no loop, no step to the next state and not the way back, so it has no place here.
    """
    column = list(State)
    chart: list[str] = []
    for state, below in zip(column, [*column[1:], column[0]], strict=True):
        leaving = [t for t in TRANSITIONS if t.source is state]
        loops = [f"{t.event} ({t.sentence})" for t in leaving if t.target is state]
        steps = [f"{t.event} ({t.sentence})" for t in leaving if t.target is below]
        if len(loops) > 1 or len(loops) + len(steps) != len(leaving):
            raise ValueError(f"no room for every arrow that leaves {state}")
        first, last = state is column[0], state is column[-1]
        margin = "    " if first else "|   "
        chart += [f"{margin}+---------+", f"{'+-->' if first else '|   '}|{state:^9}|" + "---+" * bool(loops)]
        chart[-1] += "".join(f"  {loop}" for loop in loops)
        chart += ["|   +---------+" + "<--+" * bool(loops)]
        chart += [f"|        |  {step}" for step in steps]
        chart += ["+--------+" if last else "|        v"]
    return chart


def errors() -> str:
    """The table of error codes."""
    rows = [f"| `{name}` | {code.meaning} | {code.answered} | {code.sentence} |" for name, code in CODES.items()]
    return "\n".join(["| code | meaning | answered | sentence |", "|---|---|---|---|", *rows])


def fates() -> str:
    """What becomes of a sealed message."""
    rows = [f"| {row.state} | {row.event} | {row.outcome} | {row.target} | {row.sentence} |" for row in FATES]
    return "\n".join(
        ["| the message is | what happens | what comes of it | then it is | sentence |", "|---|---|---|---|---|", *rows]
    )


def outages() -> str:
    """What the server's loop does in an outage."""
    rows = [f"| {row.state} | {row.event} | {row.duty} | {row.target} | {row.sentence} |" for row in OUTAGES]
    return "\n".join(
        ["| the server is | what happens | what it does | then it is | sentence |", "|---|---|---|---|---|", *rows]
    )


PRINTED = {"states": states, "topics": topics, "fates": fates, "errors": errors, "outages": outages}


def printed(text: str) -> str:
    """Return a document with its tables printed anew."""
    for name, table in ((name, write()) for name, write in PRINTED.items()):
        section = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = section.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    for document in (README, CONTRIBUTING):
        document.write_text(printed(document.read_text()))
