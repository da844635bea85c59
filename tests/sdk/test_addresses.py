"""Addresses as people type them: what is wrong with one is found where it is read."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from salvo.errors import ConnectionLost, SalvoError
from salvo.net.mqtt import BrokerUrl
from salvo_server.brokers.embedded.addresses import split_address
from salvo_watch.commands.web import web

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
    "mqtt://h/games": "behind HOST:PORT is nothing",
    "mqtt://h?a=b": "behind HOST:PORT is nothing",
    "ws://h/mqtt?a=b": "a path alone",
    "ws://h/mqtt#a": "a path alone",
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
            "--public=http://a/b",
        ),
        *("--public=http://u:HUSH@a", "--public=http://a?b", "--join=mqtt://a..b", "--join=http://a"),
    ],
)
def test_a_web_front_takes_no_address_that_nobody_can_open(option: str) -> None:
    done = CliRunner().invoke(web, ["--listen=127.0.0.1:0", option])
    text = f"{done.output}{done.exception}"
    assert "Invalid value for '--public'" in text or "bad_url" in text
    assert "HUSH" not in text
