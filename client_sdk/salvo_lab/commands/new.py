"""``salvo new``."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from pathlib import Path

import click

from salvo.cli.checked import refuse_unused
from salvo.errors import BotError
from salvo.system import plugins
from salvo.system.atomic_file import create_file
from salvo.system.distribution import NAME, __version__
from salvo_lab.templates import KITS, PROJECT, Template

#: File names that are safe in command lines and in comments of any language.
_NAME = re.compile(r"[\w-]+(\.[\w-]+)*\.\w+")


@click.command()
@click.argument("file")
@click.option("--program", is_flag=True, help="Write a program without the SDK, also in Python and JavaScript.")
def new(file: str, program: bool) -> None:
    """Write a starter bot to FILE: mybot.py or mybot.js on their SDK, or a program in another language, mybot.pl.

    It is complete: it hunts, plays by every ruleset, and explains itself in comments. For other languages: a program
    only has to read and write JSON lines. With a folder, mybot/, it writes a small project: the bot, its tests, a
    README, and notes for coding assistants.
    """
    if not file.endswith((".py", ".js")):
        refuse_unused("program", "but for FILE.py and FILE.js: others are programs")
    if file.endswith(("/", os.sep)) or Path(file).is_dir():
        _write_project(Path(file))
    else:
        _write_bot(Path(file), program)


def _write_project(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [template.name for template in PROJECT if (folder / template.name).exists()]
        if there:
            raise BotError("bad_file", f"{folder} has {', '.join(there)} already; name another folder")
        for template in PROJECT:
            create_file(folder / template.name, template.read_bytes(), 0o666)
    except OSError as error:
        raise BotError("bad_file", f"{folder}: {error.strerror}; name another folder") from None
    click.echo(f"{folder} is a project: {', '.join(template.name for template in PROJECT)}")
    place = f"cd {shlex.quote(str(folder))} && "
    for purpose, command in (
        ("a game", "python bot.py"),
        ("its tests", "pytest   (once: pip install pytest)"),
        ("more", "README.md"),
    ):
        click.echo(f"{purpose + ':':19}{place if command != 'README.md' else f'{folder}/'}{command}")


def _write_bot(file: Path, program: bool) -> None:
    kit = _kit_for(file, program)
    try:
        file.parent.stat()  # a folder that is not there is a slip
        if not create_file(file, kit.text(file.name).encode(), 0o666):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    except OSError as error:
        raise BotError("bad_file", f"{file}: {error.strerror}; name another file") from None
    bot = shlex.quote(f"exec:{kit.runs} {shlex.quote(str(file))}" if kit.runs else str(file))
    steps = {
        "a game to look at": f"salvo play {bot} hunter",
        "is it better": f"salvo compare {bot} hunter",
        "after each save": f"salvo dev {bot}",
        "a contest": f"salvo join mqtt://HOST {bot}",
    }
    click.echo(f"{file} is {kit.about}")
    if kit.file == "bot.js":
        package = f"./{NAME}-{__version__}.tgz"
        click.echo(
            f"{'its SDK, once:':19}npm install {package}, a file of the release; in a clone npm ci and npm pack make it"
        )
    for purpose, command in steps.items():
        click.echo(f"{purpose + ':':19}{command}")


def _kit_for(file: Path, program: bool) -> Template:
    if not _NAME.fullmatch(file.name):
        raise BotError(
            "bad_file",
            f"{file.name!r}: a bot's file has letters, digits, - and _, and ends in {_ends()}; a folder ends in /",
        )
    if file.suffix == ".py" and (
        file.stem in sys.stdlib_module_names or file.stem in ("salvo", *plugins.found(plugins.BOTS))
    ):
        raise BotError(
            "bad_file",
            f"{file.name}: another module is called {file.stem}, which Python or salvo imports; take mybot.py",
        )
    for kit in KITS:
        if kit.suffix == file.suffix and (kit.runs or not program):
            return kit
    raise BotError(
        "bad_file", f"{file}: starter bots end in {_ends()}; in another language, write what a program of these does"
    )


def _ends() -> str:
    return ", ".join(dict.fromkeys(kit.suffix for kit in KITS))
