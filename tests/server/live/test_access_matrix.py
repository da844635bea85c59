"""Every topic x every kind of user x every way to it, tried for real on both brokers.

What must come out is read from the table of the published contract, not from the code that makes the rights: a cell
that differs is a hole or a locked door. Waiting is for barriers: a message that is known to come after all others.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator

import paho.mqtt.client as paho
import pytest

from kit.access import ROWS
from kit.accounts import SERVER, contest
from kit.programs import BROKERS
from kit.raw import Raw, publish_packet, subscribe_packet
from kit.secured import Client, Secured, secured
from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import Account

#: The default table and a further one; and one that is not the server's, where nobody may anything.
TABLES = ("", "final")
ELSEWHERE = "elsewhere"

HALL = Account("hall", "hall", Role.WATCHER, "secret-of-hall")
JURY = Account("jury", "jury", Role.REFEREE, "secret-of-jury")
DESK = Account("desk", "desk", Role.HOST, "secret-of-desk")
#: Watches and tidies up for the test; it is no actor, so that the server itself can be one.
EYE = Account("eye", "eye", Role.SERVER, "secret-of-the-eye")
ACCOUNTS = contest("red", "blue", others=[HALL, JURY, DESK, EYE])
ACTORS = {account.user: account for account in ACCOUNTS if account.user in ("red", "red.1", "blue")}
ACTORS |= {"server": SERVER, "hall": HALL, "jury": JURY, "desk": DESK}

#: What the columns of the contract mean where the player in the topic is red.
MAY_PUBLISH = {"server": {"server"}, "team": {"server", "red", "blue"}, "owner": {"server", "red"}}
MAY_PUBLISH |= {"host": {"server", "desk"}}
MAY_READ = {
    "server": {"server"},
    "everybody": {"server", "red", "red.1", "blue", "hall", "jury", "desk"},
    "owner": {"server", "red", "red.1"},
    "referee": {"server", "jury"},
}

Cells = set[tuple[str, str]]  # (topic, actor)


def at(tables: Iterable[str]) -> list[str]:
    """All topics at some tables."""
    return [f"/{table}{path}" if table else path for table in tables for path, _, _ in ROWS]


TOPICS = at(TABLES)
#: No topics of the contract, but below the server's tables: its own, should something be left there.
UNLISTED = ["/game", "/players/red", "/final/players/red/secret"]
OTHERS = [*at([ELSEWHERE]), "game/state", "free/for/all", "/", "$SYS/broker/uptime", "$CONTROL/dynamic-security/v1"]
STATE = "/game/state"  # everybody reads it, so its last message is the barrier
_barriers = itertools.count()


def expected(allowed: dict[str, set[str]], column: int) -> Cells:
    """The cells of one column that are open."""
    return {
        (f"/{table}{row[0]}" if table else row[0], actor)
        for table in TABLES
        for row in ROWS
        for actor in allowed[row[column]]
    }


#: Players that no roster has and ships that no fleet has. mosquitto, which cannot refuse a retained message on a topic
#: that a team may publish, takes nothing there; or one team could leave as many messages as it can think of names.
INVENTED = {"/players/ghost/fire": {"red", "blue"}, "/final/players/ghost/fire": {"red", "blue"}}
INVENTED |= {"/players/red/ships/ghost/place": {"red"}, "/final/players/red/ships/ghost/place": {"red"}}
INVENTED_WRITES = {
    "embedded": {(topic, name) for topic, teams in INVENTED.items() for name in {"server", *teams}},
    "mosquitto": {(topic, "server") for topic in INVENTED},
}

UNLISTED_WRITES = {(topic, "server") for topic in UNLISTED}
WRITES, READS = expected(MAY_PUBLISH, 1), expected(MAY_READ, 2)


def test_the_contract_has_all_kinds_of_rows() -> None:
    assert len(ROWS) >= 25
    assert {row[1] for row in ROWS} == set(MAY_PUBLISH)
    assert {row[2] for row in ROWS} == set(MAY_READ)


@pytest.fixture(scope="module", params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[Secured]:
    with secured(request.param, ACCOUNTS, TABLES, ships=["carrier"]) as running:
        yield running


@pytest.fixture(params=["own client id", "another's client id in MQTT 5"])
def actors(broker: Secured, request: pytest.FixtureRequest) -> Iterator[dict[str, Client]]:
    """All actors, under their own client ids in MQTT 3.1.1, or each under that of the next one in MQTT 5."""
    names = list(ACTORS)
    shift, mqtt = (0, paho.MQTTv311) if request.param == "own client id" else (1, paho.MQTTv5)
    ids = dict(zip(names, [ACTORS[name].user for name in [*names[shift:], *names[:shift]]], strict=True))
    with contextlib.ExitStack() as stack:
        clients = {
            name: stack.enter_context(Client(broker.port, account, ids[name], mqtt=mqtt))
            for name, account in ACTORS.items()
        }
        assert [client.refusal for client in clients.values()] == [None] * len(names)
        yield clients
        assert [name for name, client in clients.items() if client.lost] == []


@pytest.fixture
def eye(broker: Secured) -> Iterator[Client]:
    """Sees and may do everything at the tables, and leaves nothing retained behind."""
    with Client(broker.port, EYE) as client:
        client.publish(TOPICS, "", retain=True)
        client.subscribe(["#"])
        barrier(client, [client])
        client.forget()
        yield client
        client.publish(TOPICS, "", retain=True)


def barrier(eye: Client, readers: Iterable[Client]) -> None:
    """Return when everything that was published before has reached everybody."""
    text = f"barrier {next(_barriers)}"
    eye.publish([STATE], text)
    for reader in readers:
        reader.wait_for(STATE, text)


def stored(broker: Secured, eye: Client) -> set[tuple[str, str]]:
    """What the broker has retained at the tables: (topic, payload)."""
    eye.unsubscribe(["#"])
    eye.forget()
    eye.subscribe(["#"])
    barrier(eye, [eye])
    return {(topic, payload) for topic, payload, retained in eye.received if retained}


def differing(got: Cells, wanted: Cells) -> dict[str, list[tuple[str, str]]]:
    return {"open and should be closed": sorted(got - wanted), "closed and should be open": sorted(wanted - got)}


NONE: dict[str, list[tuple[str, str]]] = differing(set(), set())

SUBSCRIPTIONS = {
    "each topic": [TOPICS[:41], TOPICS[41:]],
    "#": [["#", "$SYS/#", "$CONTROL/#"]],
    "+/...": [["/".join("+" * levels) for levels in range(2, 8)]],
}


@pytest.mark.parametrize("subscription", list(SUBSCRIPTIONS))
def test_a_user_reads_live_and_retained_what_the_contract_allows(
    broker: Secured, actors: dict[str, Client], eye: Client, subscription: str
) -> None:
    eye.publish(TOPICS, "kept", retain=True)
    for client in actors.values():
        for filters in SUBSCRIPTIONS[subscription]:
            granted = client.subscribe(filters)
            if broker.kind == "embedded" or "$CONTROL/#" not in filters:
                assert set(granted) <= {0, 1}
    eye.publish(TOPICS, "live")
    barrier(eye, actors.values())
    for payload, retained in (("kept", True), ("live", False)):
        got = {
            (topic, name)
            for name, client in actors.items()
            for topic in {t for t, p, r in client.received if (p, r) == (payload, retained)}
        }
        assert differing(got, READS) == NONE, payload
    others = {entry for client in actors.values() for entry in client.received if entry[0] not in TOPICS}
    assert others == set()


def test_a_shared_subscription_is_no_way_around(broker: Secured, actors: dict[str, Client], eye: Client) -> None:
    """The embedded broker refuses them; mosquitto looks at the rights of whoever is to get the message."""
    shared = {name: f"$share/{number}/#" for number, name in enumerate(actors)}
    for name, client in actors.items():
        assert (client.subscribe([shared[name]])[0] >= 0x80) == (broker.kind == "embedded")
        client.subscribe([STATE])
    eye.publish([topic for topic in TOPICS if topic != STATE], "live")
    barrier(eye, actors.values())
    got = {
        (topic, name) for name, client in actors.items() for topic, payload, _ in client.received if payload == "live"
    }
    wanted = {cell for cell in READS if cell[0] != STATE} if broker.kind == "mosquitto" else set()
    assert differing(got, wanted) == NONE


def test_a_user_publishes_what_the_contract_allows(broker: Secured, actors: dict[str, Client], eye: Client) -> None:
    for name, client in actors.items():
        client.publish([*TOPICS, *UNLISTED, *INVENTED, *OTHERS], name)
    barrier(eye, [eye])
    got = {(topic, payload) for topic, payload, _ in eye.received if not payload.startswith("barrier")}
    assert differing(got, WRITES | UNLISTED_WRITES | INVENTED_WRITES[broker.kind]) == NONE


def test_a_user_may_retain_only_what_the_contract_allows(
    broker: Secured, actors: dict[str, Client], eye: Client
) -> None:
    """What the server leaves, and a host's seats and league; mosquitto refuses the flag nowhere (SALVO-FRESH-4)."""
    for name, client in actors.items():
        client.publish([*TOPICS, *UNLISTED, *INVENTED, *OTHERS], name, retain=True)
        mine = {cell for cell in WRITES | UNLISTED_WRITES | INVENTED_WRITES["mosquitto"] if cell[1] == name}
        hosts = {cell for cell in mine if name == "desk" and cell[0].endswith(("/seat", "/game/league"))}
        wanted = mine if name == "server" or broker.kind == "mosquitto" else hosts
        assert differing(stored(broker, eye), wanted) == NONE
        eye.publish([*TOPICS, *UNLISTED, *INVENTED], "", retain=True)


def test_a_last_will_publishes_only_where_the_contract_allows(broker: Secured, eye: Client) -> None:
    """Nobody's but the server's; mosquitto lets one say what its user may publish anyhow."""
    allowed_cells: Cells = set()
    for name, account in ACTORS.items():
        for topic in TOPICS:
            who = {"user": account.user, "password": account.secret}
            with Raw(broker.port, "x", will=(topic, name), **who) as raw:
                answer = raw.read()
                assert answer in (b"\x20\2\0\0", b"\x20\2\0\5")
                if answer == b"\x20\2\0\0":
                    allowed_cells.add((topic, name))
    assert broker.kind == "mosquitto" or {name for _, name in allowed_cells} == {
        "server"
    }  # the others' CONNECT is refused
    wanted = {cell for cell in WRITES if cell[1] == "server" or broker.kind == "mosquitto"}
    eye.until(lambda: wanted <= {(topic, payload) for topic, payload, _ in eye.received})
    for account in ACTORS.values():  # whose connection before has been ended by then, and its will said
        Client(broker.port, account).close()
    barrier(eye, [eye])
    assert differing({(t, p) for t, p, _ in eye.received if not p.startswith("barrier")}, wanted) == NONE


def test_a_client_without_a_name_is_refused(broker: Secured, eye: Client) -> None:
    everybody = [account.user for account in ACTORS.values()]
    for client_id in ["", "nobody", *everybody]:
        with Client(broker.port, None, client_id) as client:
            assert client.refusal is not None
    packets = b"".join(publish_packet(topic, b"anonymous") for topic in TOPICS)
    with Raw(broker.port, "red") as raw:
        with contextlib.suppress(ConnectionError):
            raw.send(subscribe_packet("#") + packets)
        answers = b""
        while chunk := raw.read():
            answers += chunk
        assert answers in (
            b"\x20\2\0\4",
            b"\x20\2\0\5",
            b"",
        )  # nothing after the refusal, which a reset may have swallowed
    barrier(eye, [eye])
    assert {payload for _, payload, _ in eye.received if payload == "anonymous"} == set()


def test_a_user_cannot_take_over_another_users_session(broker: Secured) -> None:
    with contextlib.ExitStack() as stack:
        victims = {name: stack.enter_context(Client(broker.port, account)) for name, account in ACTORS.items()}
        for name, attacker in ACTORS.items():
            victims[name].close()  # a user has one connection
            for other in ACTORS.values():
                if other is attacker:
                    continue
                for clean in (True, False):
                    with Client(broker.port, attacker, other.user, clean=clean) as client:
                        assert client.refusal is None
                        assert not client.session_present
                        client.unsubscribe(["/x"])
                with Client(broker.port, other, other.user, secret=attacker.secret + "x") as client:
                    assert client.refusal is not None
                with Client(broker.port, None, other.user) as client:
                    assert client.refusal is not None
            with Client(broker.port, attacker, clean=True):  # ends the persistent session that it has just left
                pass
            victims[name] = stack.enter_context(Client(broker.port, attacker))
            for victim in victims.values():
                victim.unsubscribe(["/x"])  # answered
                assert victim.stands
