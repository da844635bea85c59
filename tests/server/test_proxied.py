"""The line in front of a connection that is made for somebody else."""

from __future__ import annotations

import pytest

from salvo_server.brokers.embedded.proxied import MAX_BYTES, is_cut_off, read_visitor

LINE = b"PROXY TCP4 203.0.113.9 0.0.0.0 0 0\r\n"


@pytest.mark.parametrize(
    ("sent", "visitor", "rest"),
    [
        (LINE, "203.0.113.9", b""),
        (LINE + b"\x10\x0c", "203.0.113.9", b"\x10\x0c"),
        (b"PROXY TCP6 2001:db8::7 :: 0 0\r\nx", "2001:db8::7", b"x"),
        (b"PROXY UNKNOWN\r\nx", "", b"x"),
        (b"\x10\x0c\0\4MQTT", "", b"\x10\x0c\0\4MQTT"),
        (b"PROXY TCP4 nobody\r\n", "", b"PROXY TCP4 nobody\r\n"),
    ],
)
def test_a_proxy_line_names_the_visitor_and_is_removed(sent: bytes, visitor: str, rest: bytes) -> None:
    assert read_visitor(sent) == (visitor, rest)


def test_a_proxy_line_is_awaited_only_while_it_can_still_be_valid() -> None:
    assert all(is_cut_off(LINE[:size]) for size in range(len(LINE)))
    assert not is_cut_off(LINE)
    assert not is_cut_off(b"\x10")
    assert not is_cut_off(b"PROXY " + b"x" * MAX_BYTES)
