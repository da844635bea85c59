"""What a contest of some size costs, predicted from unit costs: ``make load`` prints it beside what it measures.

The unit costs are those that ``make load`` printed on two cores with 100 tables. Costs in time are told for a machine
whose bare echo costs :attr:`Costs.echo_us` a message, and scaled by what the echo costs in the run at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

_MB: Final = 1024.0  # in KB


class Size(NamedTuple):
    """A contest.

    Attributes:
        teams: at each table.
        spectators: watchers on MQTT, or as many browsers; spread over the tables.
        pace: seconds from a salvo's result to the next turn, where bots answer at once.
    """

    tables: int
    teams: int
    spectators: int
    pace: float

    @property
    def salvos(self) -> float:
        """Salvos a second at all tables."""
        return self.tables / self.pace


@dataclass(frozen=True, slots=True)
class Costs:
    """What each thing costs: processor time in microseconds, memory in KB.

    Attributes:
        echo_us: a message of a bare echo on the same client library, in its process.
        server_fixed: the server's share of a core besides; few salvos share a round and a commit.
        server_us: a salvo of five shots, in the server, with its journal and signed log.
        broker_fixed: the broker's share besides.
        broker_us: the same in the broker, with all that two teams send and hear.
        heard: messages of a salvo to a team.
        watched: messages of a salvo to a watcher.
        delivery_us: a message to a watcher, in the broker.
        web_fixed: the web front's share besides.
        web_us: a salvo in the web front without a browser.
        browser_us: a salvo's result to a browser, in the web front.
        server_kb: the server with one table.
        table_kb: a further one.
        team_kb: a team with its fleet, in the server.
        broker_kb: the broker without clients.
        client_kb: a client, team or watcher, in the broker.
        front_kb: the web front with one table.
        front_table_kb: a further one.
        browser_kb: a browser, in the web front.
    """

    echo_us: float
    server_fixed: float
    server_us: float
    broker_fixed: float
    broker_us: float
    heard: float
    watched: float
    delivery_us: float
    web_fixed: float
    web_us: float
    browser_us: float
    server_kb: float
    table_kb: float
    team_kb: float
    broker_kb: float
    client_kb: float
    front_kb: float
    front_table_kb: float
    browser_kb: float


@dataclass(frozen=True, slots=True)
class Load:
    """What a contest asks of a machine: processor time as shares of one core, memory in MB.

    Attributes:
        broker_watched: with the watchers.
        web_watched: with the browsers.
    """

    server: float
    broker: float
    broker_watched: float
    web: float
    web_watched: float
    server_mb: float
    broker_mb: float
    web_mb: float


#: Measured with ``make load TABLES=100 SPECTATORS=500`` on two cores.
COSTS: Final = Costs(
    echo_us=100,
    server_fixed=0.039,
    server_us=1170,
    broker_fixed=0.011,
    broker_us=330,
    heard=10,
    watched=8,
    delivery_us=20,
    web_fixed=0.02,
    web_us=100,
    browser_us=50,
    server_kb=80_000,
    table_kb=20,
    team_kb=20,
    broker_kb=6_000,
    client_kb=5,
    front_kb=80_000,
    front_table_kb=50,
    browser_kb=50,
)


def predict(size: Size, echo_us: float, costs: Costs = COSTS) -> Load:
    """Return what a contest asks of a machine.

    Args:
        echo_us: what a message of the bare echo costs there.
    """
    speed, salvos = echo_us / costs.echo_us, size.salvos / 1e6
    watched = salvos / size.tables * size.spectators
    further_teams = (size.teams - 2) * costs.heard * costs.delivery_us
    broker = costs.broker_fixed + salvos * (costs.broker_us + further_teams)
    web = costs.web_fixed + salvos * costs.web_us
    further, clients = size.tables - 1, size.tables * size.teams + size.spectators
    return Load(
        server=speed * (costs.server_fixed + salvos * costs.server_us),
        broker=speed * broker,
        broker_watched=speed * (broker + watched * costs.watched * costs.delivery_us),
        web=speed * web,
        web_watched=speed * (web + watched * costs.browser_us),
        server_mb=(costs.server_kb + further * costs.table_kb + size.tables * size.teams * costs.team_kb) / _MB,
        broker_mb=(costs.broker_kb + clients * costs.client_kb) / _MB,
        web_mb=(costs.front_kb + further * costs.front_table_kb + size.spectators * costs.browser_kb) / _MB,
    )
