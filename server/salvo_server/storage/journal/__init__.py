"""The journal on SQLite and PostgreSQL; :mod:`salvo_server.core.journal_interface` says what a journal is."""
