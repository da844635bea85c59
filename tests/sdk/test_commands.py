"""What a team writes is what the server reads, and the bounds of both."""

from __future__ import annotations

import pytest

from salvo import messages as m
from salvo import topics
from salvo.codec.command_reader import (
    SealedParticipation,
    SignedLeave,
    SignedShot,
    SignedSkip,
    read_command,
    read_leave,
    read_participation,
    read_shot,
    read_skip,
)
from salvo.codec.command_writer import write_leave, write_participation, write_shot, write_skip
from salvo.codec.commands import MAX_SECRET_CHARACTERS, MAX_SHIP_SPELLING, ParticipationRequest, read_ship
from salvo.errors import WireError
from salvo.rules import SALVO
from salvo.seal import Sealer, open_blob
from salvo_server.storage.identity import Identity

JOINING = topics.parse("/game/request_participation")


@pytest.fixture(scope="module")
def sealer() -> Sealer:
    """A team's."""
    return Sealer("secret", salt=bytes(16))


@pytest.mark.parametrize("context", [None, m.ShotContext(3, 7, 2, "bob")])
def test_a_shot_is_read_with_the_context_it_was_written_with(sealer: Sealer, context: m.ShotContext | None) -> None:
    request = read_command(topics.parse("/players/bob/fire"), write_shot(4, 5, context, sealer), SALVO)
    assert isinstance(request, SignedShot)
    shot = read_shot(request, "ann", open_blob(request.blob, sealer.key))
    assert shot == m.Fire("ann", "bob", 4, 5, context)


@pytest.mark.parametrize("context", [None, m.TurnContext(3, 7)])
def test_a_skip_is_read_with_the_context_it_was_written_with(sealer: Sealer, context: m.TurnContext | None) -> None:
    request = read_command(topics.parse("/players/ann/skip"), write_skip(context, sealer), SALVO)
    assert isinstance(request, SignedSkip)
    assert read_skip(request, open_blob(request.blob, sealer.key)) == m.Skip("ann", context)


@pytest.mark.parametrize("game", [None, 3])
def test_who_leaves_may_name_the_game(sealer: Sealer, game: int | None) -> None:
    request = read_command(topics.parse("/players/ann/leave"), write_leave(game, sealer), SALVO)
    assert isinstance(request, SignedLeave)
    assert read_leave(request, open_blob(request.blob, sealer.key)) == m.Leave("ann", game)


def test_a_request_to_take_part_is_open_to_a_server_without_a_key() -> None:
    text = write_participation("ann", "pässword")
    assert text == '{"name": "ann", "secret": "pässword"}'.encode()
    assert read_command(JOINING, text, SALVO) == ParticipationRequest("", "ann", "pässword")


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
