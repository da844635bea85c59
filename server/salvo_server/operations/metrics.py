"""The metrics of a running server for Prometheus, collected on request.

The loop does no more than count: turns, games and refusals as listeners hear of them, the lateness of a round, the time
of a commit. All else is read by the scrape, on a thread of its own and without a lock: an attribute, a length, or a
copy of a counter, each of which is one operation of the interpreter. No team's name and no secret is in any label.
"""

from __future__ import annotations

import contextlib
import logging
import platform
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any, ClassVar, Final, Protocol

from salvo import messages as m
from salvo.errors import MissingExtra
from salvo.system.distribution import __version__
from salvo_game.journal_interface import Batch, Journal, JournalUnavailable, JournalWrapper, Saved, StepTaken
from salvo_server.brokers.embedded import EmbeddedBroker, open_files
from salvo_server.brokers.embedded.addresses import is_known_host, listening, reachable, split_address
from salvo_server.service import Service, ServiceListener

try:
    from prometheus_client import CollectorRegistry, Histogram, MetricsHandler, ProcessCollector
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
    from prometheus_client.registry import Collector
except ModuleNotFoundError:
    raise MissingExtra("--metrics", "server") from None

log = logging.getLogger(__name__)

#: From a fast commit to a disk that stands still.
COMMIT_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
#: From a round that nobody notices to one that costs players their turns.
LATENESS_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
#: A client that asks for nothing keeps a thread this long.
_SILENT_SECONDS: Final = 5.0


class Countable(Protocol):
    """What is counted of the server's connection to its broker, of either kind."""

    @property
    def connected(self) -> bool: ...
    @property
    def unconfirmed(self) -> int: ...


class Metrics(Collector):
    """Counts what happens, and collects it with what the server knows.

    :meth:`timed` and :meth:`counting` go into the contest; :meth:`watch` takes what it is made of.
    """

    def __init__(self) -> None:
        """Count from 0."""
        self.registry = CollectorRegistry()
        self._turns: Counter[str] = Counter()
        self._games: dict[str, Counter[str]] = {"finished": Counter(), "aborted": Counter()}  # by result, then by table
        self._refused: Counter[str] = Counter()
        self._journal: _TimedJournal | None = None
        self._service: Service | None = None
        self._connection: Countable | None = None
        self._embedded: EmbeddedBroker | None = None
        self._lateness = Histogram(
            "salvo_lateness_seconds",
            "How long messages and deadlines may have waited for each round of the loop",
            buckets=LATENESS_BUCKETS,
            registry=self.registry,
        )
        self._commits = Histogram(
            "salvo_commit_seconds", "Time of each commit to the journal", buckets=COMMIT_BUCKETS, registry=self.registry
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    def timed(self, journal: Journal) -> Journal:
        """Return a journal that measures its commits and passes on everything."""
        self._journal = _TimedJournal(journal, self._commits)
        return self._journal

    def counting(self, listener: ServiceListener) -> ServiceListener:
        """Return a listener that counts what it hears and passes it on."""

        def hear(table: str, at: int, command: m.Input | None, announcements: Sequence[m.Announcement]) -> None:
            for announcement in announcements:
                match announcement:
                    case m.SalvoResolved():
                        self._turns[table] += 1
                    case m.GameWon(winner, tied):
                        self._games["finished" if winner or tied else "aborted"][table] += 1
                    case m.CommandRefused(code=code) | m.PlacementRefused(code=code):
                        self._refused[code] += 1
                    case _:
                        pass
            listener(table, at, command, announcements)

        return hear

    def watch(self, service: Service, connection: Countable, embedded: EmbeddedBroker | None) -> None:
        """Read what these know at each scrape from now on.

        Args:
            embedded: None where the broker is another one.
        """
        self._service, self._connection, self._embedded = service, connection, embedded
        service.on_round = lambda late_ms: self._lateness.observe(late_ms / 1000)

    def describe(self) -> Iterable[Metric]:
        """Name nothing in advance: what is collected depends on the broker."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield what is known now, but for the histograms and the process, which are collectors themselves."""
        build = {"version": __version__, "protocol": str(m.PROTOCOL), "python": platform.python_version()}
        yield InfoMetricFamily("salvo_build", "Version of the server, of the protocol and of Python", value=build)
        if self._service is not None and self._connection is not None:
            yield from self._of_tables(self._service)
            yield from self._of_loop(self._service, self._connection)
            yield self._refusals(self._service)
        if self._embedded is not None:
            what = "Clients at the embedded broker, the server among them"
            yield GaugeMetricFamily("salvo_broker_connections", what, self._embedded.connections)

    def _of_tables(self, service: Service) -> Iterator[Metric]:
        none = dict.fromkeys(service.tables, 0)
        players = {name: len(table.referee.players) for name, table in service.tables.items()}
        yield _by_table(GaugeMetricFamily("salvo_players", "Teams at a table", labels=["table"]), players)
        turns = CounterMetricFamily("salvo_turns", "Turns that are over, missed ones among them", labels=["table"])
        yield _by_table(turns, none | dict(self._turns))
        what = "Games that are over; without a winner where a host has aborted one"
        games = CounterMetricFamily("salvo_games", what, labels=["table", "result"])
        for result, counted in self._games.items():
            for table, value in (none | dict(counted)).items():
                games.add_metric([table, result], value)
        yield games

    def _of_loop(self, service: Service, connection: Countable) -> Iterator[Metric]:
        presence = service.presence
        yield GaugeMetricFamily("salvo_connected", "Whether the broker is connected", float(connection.connected))
        paused = float(presence.startswith("journal stalled"))
        yield GaugeMetricFamily(
            "salvo_paused", "Whether the journal cannot be written, so that the server accepts nothing", paused
        )
        what = "Messages that wait for a key to be derived"
        yield GaugeMetricFamily("salvo_derivations_waiting", what, service.gate.waiting)
        what = "Messages that the broker has not acknowledged"
        yield GaugeMetricFamily("salvo_unacknowledged_publications", what, connection.unconfirmed)
        if self._journal is not None:
            durable = self._journal.last_step  # read before the latest step, which would else seem to be behind it
            what = "Steps of games that are not in the journal"
            yield GaugeMetricFamily("salvo_uncommitted_steps", what, service.last_step - durable)
            what = "Commits that the journal refused"
            yield CounterMetricFamily("salvo_commit_failures", what, self._journal.failures)

    def _refusals(self, service: Service) -> Metric:
        """Return what was refused, by where and why."""
        sealed = {code: count for code, count in dict(service.gate.counts).items() if code != "opened"}
        places: dict[str, Mapping[str, int]] = {
            "inbox": dict(service.counts),
            "seal": sealed,
            "table": dict(self._refused),
            "broker": {} if self._embedded is None else self._embedded.faults,
        }
        what = "What was refused: by the broker, unread, unopened, or by the referee; some at two of these places"
        refusals = CounterMetricFamily("salvo_refusals", what, labels=["place", "code"])
        for place, counts in places.items():
            for code, count in counts.items():
                refusals.add_metric([place, code], count)
        return refusals

    @contextlib.contextmanager
    def served(self, address: str, hosts: Collection[str] = ()) -> Iterator[str]:
        """Answer Prometheus during a ``with`` block, which gets the URL; on daemon threads.

        Args:
            address: ``HOST:PORT``; with port 0 the system chooses one.
            hosts: names by which it is asked, besides addresses and this machine's own.

        Raises:
            BrokerError: ``bad_address``, ``address_in_use``.
        """
        host, port = split_address(address)
        sock = listening(host, port)
        handler = type("Handler", (_Handler,), {"registry": self.registry, "hosts": hosts})
        with _MetricsServer((host, port), handler, bind_and_activate=False) as server:
            server.socket.close()
            server.socket = sock
            thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
            thread.start()
            try:
                yield f"http://{reachable(host)}:{sock.getsockname()[1]}/metrics"
            finally:
                server.shutdown()
                thread.join()


class _TimedJournal(JournalWrapper):
    """Another journal, how long its commits take, and how far they have come.

    Attributes:
        last_step: the latest durable step.
        failures: commits that it did not take.
    """

    def __init__(self, journal: Journal, seconds: Histogram) -> None:
        super().__init__(journal)
        self._seconds = seconds
        self.last_step = 0
        self.failures = 0

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, and measure how long it takes."""
        began = time.perf_counter()
        try:
            super().commit(batch)
        except JournalUnavailable:
            self.failures += 1
            raise
        self._seconds.observe(time.perf_counter() - began)
        self.last_step = max([self.last_step, *(record.id for record in batch if isinstance(record, StepTaken))])

    def load(self) -> Saved:
        """Return what a restart needs, and note how far it goes."""
        saved = super().load()
        self.last_step = saved.last_step
        return saved


class _Handler(MetricsHandler):
    timeout = _SILENT_SECONDS
    hosts: ClassVar[Collection[str]] = ()

    def do_GET(self) -> None:
        """Answer a scrape; a page of another site that lets its own name point here gets nothing."""
        if not is_known_host(self.headers.get("Host", ""), self.hosts):
            self.send_error(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this server has another name: use its address, or add this name to hosts",
            )
        elif self.path.partition("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND, "the metrics are at /metrics")
        else:
            super().do_GET()


class _MetricsServer(ThreadingHTTPServer):
    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            if open_files.report(error):
                time.sleep(open_files.PAUSE_SECONDS)  # it is called again at once, because the connection waits
            raise

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.info("a scrape failed: %s", sys.exc_info()[1])


def _by_table(family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, int]) -> Metric:
    for table, value in values.items():
        family.add_metric([table], value)
    return family
