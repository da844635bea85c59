"""The pictures of a stream as files that a cache may store, so that a cache in front of this server carries a crowd.

A chunk has the pictures of one second, each with the millisecond at which it was sent. It is named by that second since
1970, begins to exist when the second is over, and never changes. The head names the newest chunks and is right for a
second. What a chunk has was on the streams before, so it shows nothing earlier than they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from salvo_server.core.clock import epoch_clock

#: A head and a chunk, as a cache in front may store them.
HEAD_CACHE: Final = "public, max-age=1"
CHUNK_CACHE: Final = "public, max-age=31536000, immutable"
#: Chunks that a page can still load; one that was away for longer continues with the newest.
MAX_CHUNKS: Final = 10
#: Without a request for the head for so long, nobody follows, and no pictures are made.
IDLE_SECONDS: Final = 10.0
_clock_ms = epoch_clock()


def _clock() -> float:
    return _clock_ms() / 1000


class Chunks:
    """The last seconds of one stream."""

    def __init__(self, clock: Callable[[], float] = _clock) -> None:
        """Begin without a chunk.

        Args:
            clock: the time in seconds since 1970, for a restart of the server must not use a name again; it never
                jumps, or a chunk would gather the pictures of an hour.
        """
        self._clock = clock
        self._chunks: dict[int, bytes] = {}
        self._second = 0
        self._pictures: list[bytes] = []  # of that second, which may not be over
        self._asked = float("-inf")

    @property
    def followed(self) -> bool:
        """Whether pages follow, through a cache or without."""
        return self._clock() - self._asked < IDLE_SECONDS

    def add(self, picture: bytes) -> None:
        """Add a picture, as JSON, that is sent now."""
        self._close()
        now = self._clock()
        if not self._pictures:
            self._second = max(int(now), self._second + 1)
        after = min(999, max(0, round(1000 * (now - self._second))))
        self._pictures.append(b"[%d,%b]" % (after, picture))

    def head(self) -> bytes:
        """Return the names of the newest chunks, the oldest first, as JSON."""
        self._close()
        self._asked = self._clock()
        return b'{"chunks":[%b]}' % b",".join(b"%d" % name for name in self._chunks)

    def chunk(self, name: int) -> bytes | None:
        """Return a chunk: a list of milliseconds and picture, as JSON.

        None if it is not there yet; empty if it will never be there again: also that is to be stored, or a crowd that
        is late asks this server for it.
        """
        self._close()
        gone = b"" if name < max(self._chunks, default=0) else None
        return self._chunks.get(name, gone)

    def _close(self) -> None:
        if not self._pictures or self._clock() < self._second + 1:
            return
        self._chunks[self._second] = b"[%b]" % b",".join(self._pictures)
        self._pictures = []
        if len(self._chunks) > MAX_CHUNKS:
            del self._chunks[min(self._chunks)]
