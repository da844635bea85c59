"""What a gateway to an older system is, for those who start it; nothing of it is imported before it is used."""

from __future__ import annotations

from typing import NamedTuple


class Gateway(NamedTuple):
    """A system whose clients and servers meet ours; what is imported is written ``module:attribute``.

    Attributes:
        text: which programs connect there, a sentence.
        command: the click command behind ``salvo gateway NAME``; one with the option ``--table`` leads to a table.
        rules: the ruleset of such a table where none is named.
        check: takes a ruleset; raises a SalvoError if the system cannot be played by it at a table.
        bot_client: plays a bot on a server of the system, and yields reports: takes the URL, the bot, the team's name,
            the names that a referee appends, a seed, and how many games; empty where no bot of ours plays there.
        for_people: whether people sit at the other end, who take their time.
        appends_names: whether a referee of the system starts the bot, and appends its name and its opponent's.
    """

    text: str
    command: str
    rules: str = ""
    check: str = ""
    bot_client: str = ""
    for_people: bool = False
    appends_names: bool = False
