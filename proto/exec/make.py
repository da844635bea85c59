"""Write the schema of a program's lines and a short game as an example: ``python proto/exec/make.py`` (SALVO-EXEC)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from salvo.bots.programs.exec_bot import ExecBot
from salvo.bots.programs.process import Program
from salvo.codec.program_lines import Answer, LineForProgram
from salvo.rules import SALVO, Grid, ShipClass
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.programs.bot_server import BotServer

HERE = Path(__file__).parent
POND = replace(SALVO, name="pond", grid=Grid(5, 4), fleet=(ShipClass("cruiser", 3), ShipClass("raft", 1)))


def schema() -> dict[str, Any]:
    """Return the lines that a program reads and writes, as JSON Schema."""
    for_program = Annotated[LineForProgram, Field(discriminator="type")]
    parts = {"told": TypeAdapter(for_program).json_schema(), "answer": TypeAdapter(Answer).json_schema()}
    definitions: dict[str, Any] = {}
    for part in parts.values():
        definitions |= part.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lines that a program reads, and its answers",
        "anyOf": [{"$ref": "#/$defs/told"}, {"$ref": "#/$defs/answer"}],
        "$defs": definitions | parts,
    }


class _Recorded(Program):
    """A bot in this process in place of a program; records the lines that it reads and writes."""

    def __init__(self) -> None:
        super().__init__(())
        self.lines: list[bytes] = []
        self._answering = BotServer(Hunter)

    @property
    def running(self) -> bool:
        return True

    def send(self, line: bytes) -> None:
        self._answer(line)

    def ask(self, line: bytes, seconds: float | None, read: Callable[[bytes], Any], limit: str) -> Any:
        self.asked += 1
        return read(self._answer(line))

    def _answer(self, line: bytes) -> bytes:
        out = io.BytesIO()
        self._answering.answer(line, out)
        self.lines += [line, out.getvalue()]
        return out.getvalue()


def example() -> list[str]:
    """Return all lines of a game on a small board, each question followed by its answer."""
    bot = ExecBot()
    program = _Recorded()
    bot._program = program
    arena.play({"ann": bot, "bob": RandomBot()}, seed="13", book=POND)
    return [line.decode() for line in program.lines if line]


def main() -> None:
    (HERE / "schema.json").write_text(json.dumps(schema(), indent=1) + "\n")
    (HERE / "example.jsonl").write_text("".join(example()))


if __name__ == "__main__":
    main()
