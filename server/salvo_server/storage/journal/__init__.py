"""The journal on SQLite and PostgreSQL; :mod:`salvo_game.journal_interface` says what a journal is."""
