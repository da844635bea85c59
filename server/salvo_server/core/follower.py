"""Who follows the tables' steps and publishes something about them some time later, such as the referee's view."""

from __future__ import annotations

from typing import Protocol

from salvo.codec.announcements import Publication
from salvo_server.core.table import Step, Table


class Follower(Protocol):
    """Follows the tables' steps, and publishes something about them some time later.

    Attributes:
        retained: payload by topic, of what the broker should retain for it now.
    """

    retained: dict[str, bytes]

    def follow(self, table: Table, step: Step) -> list[Publication]: ...
    def deadline(self) -> int | None: ...
    def take_due(self, now: int) -> list[Publication]: ...
    def catch_up(self, now: int) -> list[Publication]: ...


class NoFollower:
    """Follows nothing."""

    def __init__(self) -> None:
        self.retained: dict[str, bytes] = {}

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Publish nothing about a step."""
        return []

    def deadline(self) -> int | None:
        """Wait for nothing."""
        return None

    def take_due(self, now: int) -> list[Publication]:
        """Publish nothing later."""
        return []

    catch_up = take_due
