"""A client that has asked for a place, until it has one or is turned away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from salvo import messages as m
from salvo.errors import SalvoError
from salvo.join.events import Event, HostSeen, Refused
from salvo.messages import State
from salvo_gateways.xbs.at_table import AtTable
from salvo_gateways.xbs.client_stage import ClientPlace, ClientStage
from salvo_gateways.xbs.protocol_text import XbsMessage, complete, read_board, speakable, write

if TYPE_CHECKING:
    from salvo_gateways.xbs.client_handler import XbsHandler

#: From ``J`` to its answer. A new account takes a second, a server that derives keys for a full lobby three.
JOIN_SECONDS: Final = 20.0
#: A player with the right secret is listed at once, whatever refusals its name gets.
TAKEN_SECONDS: Final = 1.0
#: Lines of chat between J and its answer that are stored until they can be sent; more are dropped.
MAX_UNSAID: Final = 10


class Joining(ClientStage):
    """It waits to sit down, where that is not possible at once, and then for the table to list it."""

    def __init__(self, client: XbsHandler, received: XbsMessage) -> None:
        super().__init__(client)
        self._asked: XbsMessage | None = received  # until it sits down
        self._place: ClientPlace | None = None  # from then on
        self._answer_by = client.clock() + JOIN_SECONDS
        self._taken_by: float | None = None
        self._unsaid: list[tuple[str, str]] = []  # receiver and text

    @property
    def is_in_lobby(self) -> bool:
        return True

    @property
    def frees_place(self) -> bool:
        """Whether the place is the client's own: another team may have the name."""
        return self._taken_by is None

    @property
    def polls_often(self) -> bool:
        """Whether the client waits to sit down."""
        return self._asked is not None

    def speak(self, to: str, text: str) -> None:
        """Hold a line until the client has its place."""
        if len(self._unsaid) < MAX_UNSAID:
            self._unsaid.append((to, text))

    def announcement_received(self, announcement: m.Announcement) -> None:
        """Note also that another team may have the name."""
        assert self._place is not None
        self._place.announcement_received(announcement)
        match announcement:
            case m.CommandRefused(_, "name_taken", _) if self._taken_by is None:
                self._taken_by = self.client.clock() + TAKEN_SECONDS

    def event_received(self, event: Event) -> None:
        """Note a refusal that waiting does not help against."""
        assert self._place is not None
        self._place.event_received(event)
        match event:
            case HostSeen(acted):
                self._place.note_skip(acted)
            case Refused("table_full", _):
                self.client.sent_away = "game is full"
            case Refused("not_in_roster" | "sealed_required", text):
                self.client.sent_away = write("E", speakable(text))

    def tick(self, now: float) -> None:
        """Sit down, take part or give up."""
        if self._asked is not None:
            self.sit_down_or_not()
        if self.client.sent_away:
            self.client.turn_away()
        elif self._asked is not None and now > self._answer_by:
            self._asked, self.client.sent_away = None, write("E", "the table does not answer")
        elif self._place is not None:
            self._take_part_or_not(self._place, now)

    def sit_down_or_not(self) -> None:
        """Sit down, or say why not; wait for the next lobby, or for a client that is giving the name back."""
        assert self._asked is not None
        client, door = self.client, self.client.door
        news = client.watch.news
        if door.reopens(news):
            return
        name, board = self._asked.value(1), self._asked.value(2)
        seat = door.seat_of(name, client.watch)
        holder = door.company.member(seat)
        if holder is not None and holder.is_going():
            return
        self._asked = None
        back = seat in news.players and news.state is not State.LOBBY
        fleet = read_board(board, door.book)
        client.called = name
        client.sent_away = door.admit(client, seat, news, board=fleet is not None or back)
        if client.sent_away:
            return
        client.me = seat
        self._place = ClientPlace(client, fleet, back=back)
        try:
            client.sit_down(seat)
        except SalvoError as error:
            why = {"bad_name": "invalid name", "name_taken": "name in use"}.get(error.code, speakable(error.text))
            client.sent_away = write("E", why)

    def _take_part_or_not(self, place: ClientPlace, now: float) -> None:
        client, session, listed = self.client, self.client.session, place.listed
        if session.fleet is not None and (place.started if place.back else session.fleet == place.fleet):
            self._take_part(place)
        elif session.fleet is not None and not place.back:
            self._give_up_former_place(place)
        elif session.state is State.TURN and listed is not None and client.me not in listed:
            client.sent_away = "game is already started"
        elif self._taken_by is not None and now > self._taken_by:
            client.sent_away = write("E", "name in use")
        elif now > self._answer_by:
            client.sent_away = write("E", "name in use" if client.me in (listed or ()) else "the table does not answer")
        if client.sent_away:
            client.turn_away()

    def _give_up_former_place(self, place: ClientPlace) -> None:
        """Take another place with the new board: this one was left without a word, as by a gateway that was killed."""
        session = self.client.session
        if session.state is State.TURN:
            place.back = True  # it has begun with the former board
        else:
            session.leave()
            session.wants_to_play = True

    def _take_part(self, place: ClientPlace) -> None:
        client, session = self.client, self.client.session
        assert session.fleet is not None
        place.report.welcome()
        if place.back:
            view = session.view
            client.peer.send(write("Y", complete(session.fleet, view.incoming if view is not None else ())))
        client.stage = AtTable(client, place)
        seat = "" if client.me == client.called else f", as {client.me}"
        client.report.happened(f"{client.title()}: {'comes back' if place.back else 'takes part'}{seat}")
        for to, text in self._unsaid:
            client.stage.speak(to, text)
