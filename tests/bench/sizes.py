"""What a contest of some size costs, predicted from unit costs: ``make load`` prints it beside what it measures.

The unit costs are fitted to what ``make load`` printed on two cores at three sizes. Costs in time are for a machine
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
        server_us: a salvo of five shots, in the server, with its journal and signed log, but for its rounds.
        round_us: a round of the server: it wakes, commits, and publishes what it has gathered.
        broker_us: a salvo in the broker, with all that two teams send and hear, but for the rounds.
        broker_round_us: what a round of the server costs the broker.
        received: messages of a salvo to a team.
        watched: messages of a salvo to a watcher.
        delivery_us: a message to a watcher, in the broker.
        web_fixed: the web front's share of a core besides.
        web_us: a salvo in the web front without a browser.
        picture_us: the pictures of a salvo at a table that browsers follow, in the web front.
        browser_us: a salvo's result to a browser, there.
        server_kb: the server with one table.
        table_kb: a further one.
        team_kb: a team with its fleet, in the server.
        salvo_kb: a salvo of a game that goes on, in the server.
        broker_kb: the broker without clients.
        broker_table_kb: a table, in the broker.
        client_kb: a client, team or watcher, in the broker.
        front_kb: the web front with one table.
        front_table_kb: a further one.
        browser_kb: a browser, in the web front.
    """

    echo_us: float
    server_us: float
    round_us: float
    broker_us: float
    broker_round_us: float
    received: float
    watched: float
    delivery_us: float
    web_fixed: float
    web_us: float
    picture_us: float
    browser_us: float
    server_kb: float
    table_kb: float
    team_kb: float
    salvo_kb: float
    broker_kb: float
    broker_table_kb: float
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


#: From ``make load TABLES="30 100 300"`` on two cores.
COSTS: Final = Costs(
    echo_us=105,
    server_us=2150,
    round_us=1300,
    broker_us=510,
    broker_round_us=210,
    received=6.5,
    watched=3,
    delivery_us=15,
    web_fixed=0.04,
    web_us=340,
    picture_us=850,
    browser_us=15,
    server_kb=80_700,
    table_kb=17,
    team_kb=60,
    salvo_kb=4,
    broker_kb=10_900,
    broker_table_kb=30,
    client_kb=5,
    front_kb=55_200,
    front_table_kb=25,
    browser_kb=30,
)


def predict(size: Size, echo_us: float, costs: Costs = COSTS, played: int = 0) -> Load:
    """Return what a contest asks of a machine.

    Args:
        echo_us: what a message of the bare echo costs there.
        played: salvos of all games so far.
    """
    speed, salvos = echo_us / costs.echo_us, size.salvos / 1e6
    # A salvo is two rounds, its shots and the next turn; the busier the server, the more of them share one.
    rounds = 2 * salvos * max(0.0, 1 - speed * salvos * costs.server_us) ** 2
    watched = salvos / size.tables * size.spectators
    further_teams = (size.teams - 2) * costs.received * costs.delivery_us
    broker = salvos * (costs.broker_us + further_teams) + rounds * costs.broker_round_us
    web = costs.web_fixed + salvos * costs.web_us
    pictures = salvos * min(1.0, size.spectators / size.tables) * costs.picture_us
    further, teams = size.tables - 1, size.tables * size.teams
    clients = teams + size.spectators
    return Load(
        server=speed * (salvos * costs.server_us + rounds * costs.round_us),
        broker=speed * broker,
        broker_watched=speed * (broker + watched * costs.watched * costs.delivery_us),
        web=speed * web,
        web_watched=speed * (web + pictures + watched * costs.browser_us),
        server_mb=(costs.server_kb + further * costs.table_kb + teams * costs.team_kb + played * costs.salvo_kb) / _MB,
        broker_mb=(costs.broker_kb + size.tables * costs.broker_table_kb + clients * costs.client_kb) / _MB,
        web_mb=(costs.front_kb + further * costs.front_table_kb + size.spectators * costs.browser_kb) / _MB,
    )
