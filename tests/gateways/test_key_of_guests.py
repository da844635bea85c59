"""The key that the secrets of guests are drawn from, where there is no roster."""

from __future__ import annotations

import os
from pathlib import Path

from salvo_gateways.accounts import OpenAccounts


def test_the_key_of_guests_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        OpenAccounts(tmp_path / "gateway.key", "jsonline")
    finally:
        os.umask(before)
    assert (tmp_path / "gateway.key").stat().st_mode & 0o777 == 0o600


def test_an_open_gateway_draws_the_same_secret_for_a_name_again(tmp_path: Path) -> None:
    first = OpenAccounts(tmp_path / "key", "xbs")
    again = OpenAccounts(tmp_path / "key", "xbs")
    assert first.secret_of("polly") == again.secret_of("polly")
    assert first.secret_of("polly") != first.secret_of("coco")
    assert first.secret_of("polly") != OpenAccounts(tmp_path / "key", "other").secret_of("polly")
