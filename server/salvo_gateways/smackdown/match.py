"""Who plays whom: clients wait in the lobby for one another, and then meet in a match."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from salvo.rules import RuleBook
from salvo_gateways.bot_clients import BotClient
from salvo_gateways.peer import PeerBroken
from salvo_gateways.report import GatewayReport
from salvo_gateways.smackdown.referee import ANSWER_SECONDS, SIDES, SmackdownReferee
from salvo_gateways.transcripts import NO_TRANSCRIPTS, Transcripts

#: The place of a client that is not started by the gateway, and so has no name.
ANYBODY: Final = ""
#: What a bot of ours is called.
HOUSE: Final = "house"
_RULES: Final = "for programs with another grid or fleet: --rules NAME, or a file"
#: What is likely to help a program that forfeits, by the kind of it.
_HINTS: Final = {
    "late": "it may not flush its output after each line, as python -u does",
    "not_an_answer": "what else it prints belongs on its standard error",
    "off_grid": _RULES,
    "wrong_number": _RULES,
}


class Client(Protocol):
    """A program in the lobby or in a match."""

    @property
    def place(self) -> str:
        """Its name, or :data:`ANYBODY`."""
        ...

    @property
    def can_play(self) -> bool:
        """Whether it has not hung up, or has answers ahead."""
        ...

    def title(self) -> str:
        """Return what the log calls it."""
        ...

    def enter(self, match: SmackdownMatch, side: int) -> None:
        """Play from now on."""
        ...

    def send(self, lines: Sequence[str]) -> None: ...


class SmackdownLobby:
    """Where clients wait, and what came of their matches; for the threads of all of them."""

    def __init__(
        self,
        book: RuleBook,
        places: Sequence[str] = (ANYBODY, ANYBODY),
        *,
        bot: Callable[[str], BotClient] | None = None,
        answer_seconds: float = ANSWER_SECONDS,
        opponent_first: bool = False,
        transcripts: Transcripts = NO_TRANSCRIPTS,
    ) -> None:
        """Open it.

        Args:
            places: of each match, player 1's first; where a bot plays, there is one.
            bot: makes player 2 of each match, called :data:`HOUSE`, from the name of player 1; None where clients play
                each other.
            answer_seconds: how long a program may take for an answer, more than 0.
            opponent_first: whether player 2 first reads of the shots on its board.
        """
        self.book = book
        self.bot = bot
        self.transcripts = transcripts
        self.report = GatewayReport()
        self._places = list(places)
        self._options = {"answer_seconds": answer_seconds, "opponent_first": opponent_first}
        self._waiting: defaultdict[str, deque[Client]] = defaultdict(deque)
        self._ended: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._finished: Counter[str] = Counter()
        self._lock = threading.Lock()

    def wait(self, client: Client, now: float) -> None:
        """Let a client wait for a match, which begins when all its places are taken."""
        with self._lock:
            self._waiting[client.place].append(client)
            for place, clients in self._waiting.items():
                self._waiting[place] = deque(client for client in clients if client.can_play)
            needed = Counter(self._places)
            if any(len(self._waiting[place]) < number for place, number in needed.items()):
                hint = "" if client.place else "; with --opponent BOT it would play a bot"
                self.report.happened(f"{client.title()}: waits for another program{hint}")
                return
            players = [self._waiting[place].popleft() for place in self._places]
        SmackdownMatch(self, players).begin(now)

    def leave(self, client: Client) -> None:
        """Let a client wait no longer."""
        with self._lock:
            if client in self._waiting[client.place]:
                self._waiting[client.place].remove(client)

    def referee(self, send: Callable[[int, Sequence[str]], None]) -> SmackdownReferee:
        return SmackdownReferee(self.book, send, **self._options)  # type: ignore[arg-type]

    # --- what came of it --------------------------------------------------------------------------------------------

    def note(self, name: str, result: str, *, finished: bool) -> None:
        """Count a game of a player."""
        with self._lock:
            self._ended[name][result] += 1
            self._finished[name] += finished

    def games_of(self, name: str) -> int:
        """Return how many games have ended."""
        with self._lock:
            return self._ended[name].total()

    def finished_by(self, name: str) -> int:
        """Return how many of them its programs have played to the end."""
        with self._lock:
            return self._finished[name]

    def record_of(self, name: str) -> str:
        """Return how they ended, such as ``won game 2, lost game 1``."""
        with self._lock:
            return ", ".join(f"{how} {count}" for how, count in self._ended[name].items())


class SmackdownMatch:
    """One game of two clients, or of a client and a bot.

    Attributes:
        over: whether both have been sent how it ended.
    """

    def __init__(self, lobby: SmackdownLobby, clients: Sequence[Client]) -> None:
        self.over = False
        self._lobby = lobby
        self._clients = clients
        self._names = [client.place or f"player-{side}" for side, client in enumerate(clients, start=1)]
        self._titles = [client.title() for client in clients]
        self._bot: BotClient | None = None
        self._bot_answers: deque[str] = deque()
        self._lock = threading.RLock()
        self._referee = lobby.referee(self._send)
        if lobby.bot is not None:
            self._names.append(HOUSE)
            self._titles.append(HOUSE)
            self._bot = lobby.bot(self._names[0])

    def begin(self, now: float) -> None:
        self._lobby.report.happened(f"a game begins: {' and '.join(self._titles)}")
        with self._lock:
            for side, client in enumerate(self._clients):
                client.enter(self, side)
            self._referee.begin(now)
            self._settle(now)

    def receive(self, side: int, answer: str | PeerBroken, now: float) -> None:
        """Take what a client has sent."""
        with self._lock:
            self._referee.receive(side, answer, now)
            self._settle(now)

    def leave(self, side: int, now: float) -> None:
        """Note that a client has hung up."""
        with self._lock:
            self._referee.leave(side, now)
            self._settle(now)

    def tick(self, now: float) -> None:
        with self._lock:
            self._referee.tick(now)
            self._settle(now)

    def _send(self, side: int, lines: Sequence[str]) -> None:
        if side < len(self._clients):
            self._clients[side].send(lines)
        elif self._bot is not None:
            self._bot_answers += [answer for line in lines for answer in self._bot.receive(line)]

    def _settle(self, now: float) -> None:
        """Hand on the bot's answers, and end a game that is over."""
        while self._bot_answers:
            self._referee.receive(1, self._bot_answers.popleft(), now)
        if self._referee.results and not self.over:
            self.over = True
            self._record()

    def _record(self) -> None:
        forfeit = self._referee.forfeited
        if forfeit is not None:
            text = f"{self._titles[forfeit.side]} forfeits: {forfeit.text}"
            self._lobby.report.refused(forfeit.kind, text, _HINTS.get(forfeit.kind, ""))
        ends = (f"{title}: {result}" for title, result in zip(self._titles, self._referee.results, strict=True))
        self._lobby.report.happened(f"the game is over after {self._referee.rounds} rounds; {', '.join(ends)}")
        for side, result in enumerate(self._referee.results):
            self._lobby.note(self._names[side], result, finished=forfeit is None or forfeit.side != side)
        if forfeit is not None:
            return
        fleets = {name: board.fleet for name, board in zip(self._names, self._referee.boards, strict=True)}
        at = self._lobby.book.grid.cell
        salvos = [
            (self._names[side], [(self._names[1 - side], at(x + 1, y + 1)) for x, y in salvo])
            for side, salvo in self._referee.salvos
        ]
        self._lobby.transcripts.write(self._lobby.book, fleets, salvos, first=self._names[SIDES[0]])
