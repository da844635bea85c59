"""The journal on SQLite and PostgreSQL; :mod:`salvo_server.core.journal` says what a journal is."""
