"""The service's round on a connection that a test holds in its hands."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit.services import serve
from kit.unbrokered import Wire
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.retained_sync import ECHO_MS
from salvo_server.service import MORE_RETAINED_COMMANDS_MS, RETAINED_COMMANDS_MS, Service


class HeldEdge(Wire):
    """A connection: a test says what arrives, also of what the server has published itself.

    Attributes:
        subscriptions: the filters of each.
        cleared: topics whose retained message was cleared.
    """

    def __init__(self) -> None:
        super().__init__()
        self.subscriptions: list[list[str]] = []
        self.cleared: list[str] = []

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self.published += 1
        self.announced.append((topic, payload))
        self.cleared += [topic] * (retain and not payload)

    def subscribe(self, filters: Iterable[str]) -> None:
        self.subscriptions.append(list(filters))


@pytest.fixture
def edge() -> HeldEdge:
    return HeldEdge()


@pytest.fixture
def service(edge: HeldEdge) -> Service:
    return serve(edge, [""], seed=1, gate=Authenticator(executor=ThreadPoolExecutor(1)))


def connect(edge: HeldEdge, service: Service) -> bytes:
    """Connect; return the status that ends the sweep."""
    edge.connect()
    service.step()
    return service.tables[""].retained["/game/server"]


@pytest.mark.parametrize(
    ("tables", "prefixes"), [([""], {""}), (["red", "blue"], {"/+"}), (["", "red"], {"", "/+"})], ids=str
)
def test_a_server_subscribes_to_the_commands_of_its_own_kind_of_tables_and_sweeps_all(
    edge: HeldEdge, tables: list[str], prefixes: set[str]
) -> None:
    service = serve(edge, tables, seed=1, gate=Authenticator(executor=ThreadPoolExecutor(1)))
    edge.connect()
    service.step()
    [filters] = edge.subscriptions
    assert {each for each in filters if each.endswith("#")} == {
        f"{prefix}/{root}/#" for prefix in ("", "/+") for root in topics.ROOTS
    }
    assert {"/+" if each.startswith("/+") else "" for each in filters if not each.endswith("#")} == prefixes


def test_a_table_that_the_server_no_longer_has_is_cleared_and_another_servers_is_left(
    edge: HeldEdge, service: Service
) -> None:
    """It stayed an open lobby, in which teams waited for ever."""
    status = connect(edge, service)
    former = serve(HeldEdge(), ["", "t1"], seed=1, gate=Authenticator(executor=ThreadPoolExecutor(1)))
    of_former = former.tables["t1"].retained | {"/t1/players/ann/ships/carrier/approved": b"true"}
    other = {topic.replace("t1", "t2"): payload for topic, payload in of_former.items()}
    other["/t2/game/server"] = other["/t2/game/server"].replace(b'"/game/server"', b'"/t9/game/server"')
    broken = {"/t3/game/state": b"lobby", "/t3/game/server": b"no status"}
    edge.inbox = [retained_message(*each) for each in (of_former | other | broken).items()]
    edge.inbox.append(live("/game/server", status))
    service.step()
    assert set(edge.cleared) == set(of_former)
    assert edge.cleared[-1] == "/t1/game/server"  # last: a sweep that was cut off begins again


def test_a_retained_message_that_differs_is_put_right_after_the_sweep(edge: HeldEdge, service: Service) -> None:
    status = connect(edge, service)
    edge.announced.clear()
    edge.inbox = [
        retained_message("/game/state", b"turn"),
        retained_message("/game/winner", b"ghost"),
        live("/game/server", status),
    ]
    service.step()
    assert ("/game/winner", b"") in edge.announced


def retained_message(topic: str, payload: bytes) -> Inbound:
    return Inbound(topic, payload, True, 1, 1)


def live(topic: str, payload: bytes) -> Inbound:
    return Inbound(topic, payload, False, 1, 1)


def test_messages_under_way_when_the_connection_was_lost_are_not_resent(edge: HeldEdge, service: Service) -> None:
    """The kept value is older. Said once more, /game/current made clients of the plain specification fire again."""
    connect(edge, service)
    status = connect(edge, service)
    edge.announced.clear()
    edge.inbox = [retained_message("/game/state", b"over"), live("/game/state", b"lobby"), live("/game/server", status)]
    service.step()
    assert "/game/state" not in dict(edge.announced)


def test_a_stale_status_of_an_earlier_connection_is_corrected(edge: HeldEdge, service: Service) -> None:
    """That status was still in the session's queue and ended the second sweep before it began."""
    connect(edge, service)
    status = connect(edge, service)
    edge.inbox = [live("/game/server", status)]
    service.step()
    edge.announced.clear()
    edge.inbox = [retained_message("/game/current", b"ghost"), retained_message("/game/state", b"lobby")]
    service.step()
    assert edge.announced == [("/game/current", b"")]


def test_the_server_looks_for_retained_commands_until_none_comes(
    edge: HeldEdge, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker whose queue is full drops the rest: once in eight seconds, 6,292 of 250 kB would have taken minutes."""
    now = service.now()
    monkeypatch.setattr(service, "now", lambda: now)
    connect(edge, service)
    asked = len(edge.subscriptions)
    for _ in range(3):
        edge.inbox = [retained_message("/players/ghost/fire", b"x")]
        service.step()
        assert edge.cleared[-1] == "/players/ghost/fire"
        now += MORE_RETAINED_COMMANDS_MS
        service.step()
        asked += 1
        assert len(edge.subscriptions) == asked
    now += RETAINED_COMMANDS_MS - 1
    service.step()
    assert len(edge.subscriptions) == asked
    now += 1
    service.step()
    assert len(edge.subscriptions) == asked + 1


@pytest.mark.parametrize("silent", ["", "t1"])
def test_a_table_where_nothing_comes_back_is_reported_once(
    edge: HeldEdge, silent: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The story: a broker without rights for a table acknowledged what the server published there, and dropped it."""
    now = 1_000_000
    gate = Authenticator(executor=ThreadPoolExecutor(1))
    service = serve(edge, ["", "t1"], seed=1, gate=gate, clock=lambda: now)
    connect(edge, service)
    edge.inbox = [
        live(topic, payload)
        for topic, payload in edge.announced
        if topic.endswith("/game/server") and topic.startswith("/t1/") == (silent == "")
    ]
    service.step()
    assert not caplog.records
    for _ in range(3):
        now += ECHO_MS
        service.step()
    title = "table t1" if silent else "the default table"
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        f"{title}: nothing that the server publishes comes back"
    ]
    connect(edge, service)
    edge.inbox = [live(topic, payload) for topic, payload in edge.announced if topic.endswith("/game/server")]
    now += ECHO_MS
    service.step()
    assert len(caplog.records) == 1
