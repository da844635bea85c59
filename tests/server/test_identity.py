"""The server's keys and the file that keeps them."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from salvo.wire.seal import fingerprint
from salvo_server.storage.identity import IdentityError, load_identity


def test_the_file_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "identity.key"
    first = load_identity(path)
    content = path.read_bytes()
    second = load_identity(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["identity.key"]
    assert path.read_bytes() == content
    assert (first.signing_key, first.sealing_key) == (second.signing_key, second.sealing_key)
    assert first.fingerprint in content.decode()


def test_a_fingerprint_is_four_groups_of_four_digits() -> None:
    assert fingerprint(bytes(32)) == "89eb 0d6a 8a69 1dae"


def test_every_changed_character_of_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "identity.key"
    load_identity(path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(
            IdentityError, match=r"identity_key: .*identity\.key is not a server identity, or is damaged"
        ):
            load_identity(path)
    for content in (b"", whole[:40], whole + b"more\n", b"\xff" * 100, b"x" * 5000):
        path.write_bytes(content)
        with pytest.raises(IdentityError, match="damaged"):
            load_identity(path)
        assert path.read_bytes() == content, "never overwritten"


@pytest.mark.parametrize("rights", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_may_read_is_refused_with_a_cure(tmp_path: Path, rights: int) -> None:
    path = tmp_path / "identity.key"
    load_identity(path)
    path.chmod(rights)
    with pytest.raises(IdentityError, match=f"has the rights 0{rights:o}.*chmod 600"):
        load_identity(path)


def test_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "identity.key"
    found: list[bytes] = []
    gate = threading.Barrier(8)

    def start() -> None:
        gate.wait()
        found.append(load_identity(path).signing_key)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
