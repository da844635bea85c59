"""The commands of the laboratory."""

from typing import Final

from salvo.cli.listing import PLAY, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    PLAY,
    (),
    {"tournament": "tournament"},
    play="Play bots against each other in this process, without a broker.",
    new="Create a starter bot, in Python or another language, or a small project.",
    compare="Decide whether one bot is better than another, in as few games as possible.",
    dev="Play a bot every time its file is saved, and report whether it got better.",
    solo="Count the shots a bot needs to clear random boards.",
    explain="Analyse a game: what each bot knew, what its shots gained, luck versus skill.",
    tournament="Play a tournament of bots, or resume one.",
    bots="List the installed bots.",
    lab="Play on several hosts: their scheduler and their workers.",
)
