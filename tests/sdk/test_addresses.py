"""Addresses as people type them: what is wrong with one is found where it is read."""

from __future__ import annotations

from random import Random

import click
import pytest
from click.testing import CliRunner

from salvo.cli import cli
from salvo.errors import ConnectionLost, SalvoError
from salvo.join.seat import Seat
from salvo.net.mqtt import BrokerUrl
from salvo_server.brokers.embedded.addresses import split_address

COMMANDS = cli.list_commands(click.Context(cli))
LONG = "a" * 64
#: Names that no resolver takes.
NO_HOSTS = ["contest..example", ".example", f"{LONG}.example", ".".join(["a" * 60] * 5), "a b", "a%b", "ü..example"]
NO_URLS = {
    **{f"mqtt://{host}:1883": "host's name or address" for host in NO_HOSTS},
    "mqtt://[::zz]": "host cannot be read",
    "mqtt://[a": "host cannot be read",
    "mqtt://": "is not mqtt://HOST:PORT",
    "ftp://h": "is not mqtt://HOST:PORT",
    "h:0": "port is not a number of 1..65535",
    "h:99999": "port is not a number of 1..65535",
    "::1": "port is not a number of 1..65535",
    "mqtt://u:HUSH/HUSH@h": "port is not a number of 1..65535",
    "mqtt://u:HUSH℀@h": "host cannot be read",
    "mqtt://h/games": "nothing follows HOST:PORT",
    "mqtt://h?a=b": "nothing follows HOST:PORT",
    "ws://h/mqtt?a=b": "but a path with ws://",
    "ws://h/mqtt#a": "but a path with ws://",
    "ws://h/a b": "other characters",
    "mqtt://:HUSH@h": "a password and no user",
    "mqtt://u%00:HUSH@h": "MQTT cannot send",
    f"mqtt://u:{'HUSH' * 20_000}@h": "MQTT cannot send",
}


@pytest.mark.parametrize("url", NO_URLS)
def test_each_part_of_a_brokers_address_is_checked_where_it_is_read(url: str) -> None:
    with pytest.raises(ConnectionLost, match="bad_url") as caught:
        BrokerUrl.parse(url)
    assert NO_URLS[url] in caught.value.text
    assert "HUSH" not in caught.value.text


def test_an_address_is_read_as_it_is_pasted_and_with_any_kind_of_host() -> None:
    for host in ("contest.example", "contest.example.", "salvo_broker", "127.0.0.1", "bücher.example", "a" * 63):
        assert BrokerUrl.parse(f" {host}:1884\r\n").host == host
    assert BrokerUrl.parse("wss://[::1]/games").address == "[::1]:443"
    assert str(BrokerUrl.parse("mqtt://h/")) == str(BrokerUrl.parse("h"))


@pytest.mark.parametrize("address", [*(f"{host}:80" for host in NO_HOSTS), "h", "h:", "h:x", "h:65536", "[::zz]:80"])
def test_a_host_or_port_at_which_nothing_can_listen_is_refused(address: str) -> None:
    with pytest.raises(SalvoError, match="bad_address"):
        split_address(address)


@pytest.mark.parametrize(
    "option",
    [
        *(
            "--public=http://a..b",
            "--public=http://[a",
            "--public=http://a:0",
            "--public=ftp://a",
            "--public=http://a/b/../c",
        ),
        *("--public=http://u:HUSH@a", "--public=http://a?b"),
    ],
)
@pytest.mark.skipif("web" not in COMMANDS, reason="the package of web fronts is not here")
def test_a_web_front_takes_no_address_that_nobody_can_open(option: str) -> None:
    done = CliRunner().invoke(cli, ["web", "--listen=127.0.0.1:0", option])
    text = f"{done.output}{done.exception}"
    assert "Invalid value for '--public'" in text
    assert "HUSH" not in text


@pytest.mark.parametrize("address", ["mqtt://a..b", "http://a"])
@pytest.mark.skipif("web" not in COMMANDS, reason="the package of web fronts is not here")
def test_a_web_front_sends_no_team_to_an_address_that_nobody_can_open(address: str) -> None:
    done = CliRunner().invoke(cli, ["web", "--listen=127.0.0.1:0"], env={"SALVO_JOIN": address})
    assert "bad_url: " in f"{done.exception}"


@pytest.mark.parametrize(
    "words",
    [
        words
        for words in (
            *("join {} random", "join xbs://red:HUSH@h:1 random", "watch {}", "web mqtt://a {}", "health {}"),
            *("doctor {}", "control pause {}", "control --browser {}", "league cup.toml {}", "gateway xbs --broker {}"),
        )
        if words.split()[0] in COMMANDS
    ],
)
def test_an_address_on_the_command_line_takes_no_secret(words: str) -> None:
    for url in ("mqtt://red:HUSH@h:1", "red:HU/SH@h:1"):
        done = CliRunner().invoke(cli, words.format(url).split())
        assert isinstance(done.exception, ConnectionLost)
        assert done.exception.code == "bad_url"
        assert "red@h:1, and the secret in SALVO_SECRET" in done.exception.text
        assert "HU" not in f"{done.output}{done.exception}"


def test_an_address_from_the_environment_may_have_the_secret_of_the_servers_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SALVO_BROKER", "mqtt://server:HUSH@h:1")
    health = cli.get_command(click.Context(cli), "health")
    assert health is not None
    assert health.make_context("health", []).params["broker"] == "mqtt://server:HUSH@h:1"


def test_a_secret_in_a_teams_address_is_refused_and_not_half_used() -> None:
    with pytest.raises(ConnectionLost, match="bad_url: an address takes no team's secret: give mqtt://h:1, ") as caught:
        Seat("mqtt://red:HUSH@h:1", "red", None, Random(1))
    assert "HUSH" not in caught.value.text
