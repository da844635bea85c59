"""Print the tables of proto/README.md from the code: ``python proto/print_contract.py`` rewrites them in place."""

from __future__ import annotations

import re
from pathlib import Path

from salvo.errors import CODES
from salvo.topics import TOPICS
from salvo_server.referee import ACCEPTED, TRANSITIONS

README = Path(__file__).parent / "README.md"


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
    """The state diagram, and what is accepted where."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> lobby"]
    lines += [f"    {t.source} --> {t.target}: {t.event} ({t.sentence})" for t in TRANSITIONS]
    lines += ["```", "", "| command | accepted in |", "|---|---|"]
    lines += [f"| {command.__name__} | {', '.join(sorted(states))} |" for command, states in ACCEPTED.items()]
    return "\n".join(lines)


def errors() -> str:
    """The table of error codes."""
    return "\n".join(["| code | meaning |", "|---|---|", *(f"| `{code}` | {text} |" for code, text in CODES.items())])


def printed(text: str) -> str:
    """Return the README with its tables printed anew."""
    for name, table in (("states", states()), ("topics", topics()), ("errors", errors())):
        section = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = section.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    README.write_text(printed(README.read_text()))
