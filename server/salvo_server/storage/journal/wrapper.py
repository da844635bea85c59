"""A journal around another one, for what is done beside each commit."""

from __future__ import annotations

from salvo_server.core.journal import Batch, Holding, Journal, Result, Saved


class JournalWrapper(Journal):
    """Another journal; a subclass does something more. See :class:`salvo_server.core.journal.Journal`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.name, self.pepper = journal.name, journal.pepper

    def commit(self, batch: Batch) -> None:
        """Make a batch durable."""
        self._journal.commit(batch)

    def load(self) -> Saved:
        """Return what a restart needs."""
        return self._journal.load()

    def results(self) -> list[Result]:
        """Return all results."""
        return self._journal.results()

    def check(self) -> None:
        """Make sure that the other journal is where it was."""
        self._journal.check()

    def confirm(self, *, fresh: bool) -> Holding:
        """Return whether the journal is still this server's."""
        return self._journal.confirm(fresh=fresh)

    def close(self) -> None:
        """Close the other journal."""
        self._journal.close()
