"""What tests may believe of ports, and of who answers there."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kit.mosquitto import start_mosquitto
from kit.ports import Port
from kit.programs import needs


def test_a_reserved_port_refuses_connections_and_other_binds(port: Port) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port.number), 60)
    with socket.socket() as thief, pytest.raises(OSError, match="in use"):
        thief.bind(("127.0.0.1", port.number))


def test_a_reserved_port_cannot_be_bound_at_another_address_of_the_machine(port: Port) -> None:
    with socket.socket() as thief, pytest.raises(OSError, match="in use"):
        thief.bind(("127.0.0.2", port.number))


def test_servers_can_listen_on_a_reserved_port_one_after_another(port: Port) -> None:
    for _ in range(3):
        with socket.create_server(("127.0.0.1", port.number)) as server:
            with socket.create_connection(("127.0.0.1", port.number), 60):
                server.accept()[0].close()
            with pytest.raises(OSError, match="in use"):
                socket.create_server(("127.0.0.1", port.number))


@needs("mosquitto")
@pytest.mark.parametrize("protocol", ["mqtt", "websockets"])
def test_a_mosquitto_is_not_taken_for_started_because_somebody_else_answers(protocol: str, tmp_path: Path) -> None:
    """The story: ports came from a range, and a test spoke with the broker of another one."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        config = tmp_path / "mosquitto.conf"
        config.write_text(f"listener {other.getsockname()[1]} 127.0.0.1\nprotocol {protocol}\n")
        with pytest.raises(AssertionError, match="mosquitto ended with 1"):
            start_mosquitto(config)
