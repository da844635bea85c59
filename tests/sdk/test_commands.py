"""What a team writes is what the server reads, and the bounds of both."""

from __future__ import annotations

import pytest

from salvo.codec.command_reader import (
    SealedParticipation,
    read_command,
    read_participation,
)
from salvo.codec.command_writer import write_participation
from salvo.codec.commands import MAX_SECRET_CHARACTERS, MAX_SHIP_SPELLING, ParticipationRequest, read_ship
from salvo.errors import WireError
from salvo.rules import SALVO
from salvo.wire import topics
from salvo_server.storage.identity import Identity

JOINING = topics.parse("/game/request_participation")


def test_a_request_to_take_part_is_sealed_for_a_server_with_a_key() -> None:
    server = Identity.fresh()
    payload = write_participation("ann", "pässword", server.sealing_key)
    request = read_command(JOINING, payload, SALVO)
    assert isinstance(request, SealedParticipation)
    assert read_participation("", server.open(request.sealed)) == ParticipationRequest("", "ann", "pässword")


def test_no_secret_is_printed_with_a_request() -> None:
    assert "pässword" not in repr(ParticipationRequest("", "ann", "pässword"))


@pytest.mark.parametrize(("characters", "fits"), [(0, False), (1, True), (256, True), (257, False)])
def test_a_secret_has_1_to_256_characters(characters: int, fits: bool) -> None:
    assert MAX_SECRET_CHARACTERS == 256
    text = write_participation("ann", "s" * characters)
    if fits:
        assert len(read_participation("", text).secret) == characters
    else:
        with pytest.raises(WireError, match="wrong_shape: secret"):
            read_participation("", text)


def test_a_ship_may_be_spelled_with_32_characters_and_no_more() -> None:
    spelling = "carrier".ljust(MAX_SHIP_SPELLING, "_")
    assert len(spelling) == 32
    assert read_ship(spelling, SALVO) == "carrier"
    with pytest.raises(WireError, match="unknown_ship"):
        read_ship(spelling + "_", SALVO)
