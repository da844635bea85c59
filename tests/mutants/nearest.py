"""Which code is mutated, and which tests are nearest to it: one row for each part of the product.

A file may be a pattern. The tests that find most stand first; together they should take about fifteen seconds at
most. Those of the storage need PostgreSQL.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Part(NamedTuple):
    """A part of the product: its modules, and its tests as arguments of pytest."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS: Final = {
    "engine": Part(
        ("client_sdk/salvo/rules/game.py",),
        tuple(f"tests/sdk/test_{name}.py" for name in ("rules", "books", "engine", "books_against_models")),
    ),
    "referee": Part(
        tuple(
            f"client_sdk/salvo_game/{name}.py" for name in ("referee", "transitions", "lobby", "game_states", "match")
        ),
        (
            "tests/game/test_referee.py",
            "tests/game/test_referee_table.py",
            "tests/server/test_pace.py",
            "tests/game/test_referee_books.py",
            "tests/server/test_leaving.py",
            "tests/server/test_referee_view.py",
            "tests/server/test_repetitions.py",
            "tests/server/test_placing_again.py",
            "tests/server/test_host.py",
            *(
                f"tests/golden/test_golden.py::test_a_golden_game_comes_out_bit_by_bit[v1/{name}.jsonl.gz]"
                for name in ("2-players-2", "2-players-clock", "4-players-small", "smackdown-2-tie", "xbs-2-tie")
            ),
            "tests/game/test_referee_against_model.py",
        ),
    ),
    "authenticator": Part(
        (
            *(f"server/salvo_server/core/{name}.py" for name in ("authenticator", "keyring", "recaps")),
            "server/salvo_server/foresight.py",
            "client_sdk/salvo_game/rate_limit.py",
        ),
        (
            *(f"tests/server/test_{name}.py" for name in ("authenticator", "fates", "keyring", "foresight")),
            "tests/game/test_rate_limit.py",
        ),
    ),
    "outages": Part(("server/salvo_server/core/outages.py",), ("tests/server/test_outages.py",)),
    "session": Part(
        ("client_sdk/salvo/join/session/*.py",),
        tuple(f"tests/sdk/test_{name}.py" for name in ("session", "session_tables", "chatting", "contestant", "seats")),
    ),
    "recovery": Part(
        (
            *(
                f"server/salvo_server/core/{name}.py"
                for name in (
                    "admission",
                    "chat_relay",
                    "inbox",
                    "league_reports",
                    "play",
                    "refusals",
                    "retained_sync",
                    "senders",
                )
            ),
            *(f"client_sdk/salvo_game/{name}.py" for name in ("journal_interface", "recovery", "table")),
        ),
        (
            *(
                f"tests/server/test_{name}.py"
                for name in ("service", "recovery", "chat", "signed_log", "leaving", "placing_again", "senders")
            ),
            "tests/server/test_histories.py",
            "tests/server/test_refused_requests.py",
            "tests/server/test_host_commands.py",
            "tests/server/test_standings.py",
            "tests/attacks/test_attacks.py::test_an_attack_achieves_nothing",
            "tests/conformance/test_vectors.py::test_a_server_answers_as_the_vector_requires",
            "tests/golden/test_golden.py::test_a_golden_game_comes_out_bit_by_bit[v1/2-players-2.jsonl.gz]",
        ),
    ),
    "storage": Part(
        (
            *(
                f"server/salvo_server/storage/{name}.py"
                for name in ("backup", "identity", "register", "roster*", "vault")
            ),
            "client_sdk/salvo_lab/series/lines_file.py",
            "server/salvo_server/storage/journal/*.py",
        ),
        (
            *(
                f"tests/server/test_{name}.py"
                for name in (
                    "journal",
                    "identity",
                    "roster",
                    "roster_csv",
                    "backup",
                    "standby",
                    "filed_games",
                    "histories",
                )
            ),
            "tests/lab/test_lines_file.py",
            "tests/gateways/test_doorkeeper.py",
            *(
                f"tests/server/live/test_journal_databases.py::test_{name}"
                for name in (
                    "a_journal_on_postgresql_is_read_locked_and_recovered",
                    "an_owner_whose_lock_another_took_commits_nothing",
                    "the_lock_of_a_connection_that_is_gone_is_waited_for",
                    "a_frozen_journal_owner_loses_its_lock_and_an_idle_one_does_not",
                )
            ),
        ),
    ),
    "transcripts": Part(
        ("client_sdk/salvo_game/transcript.py", "server/salvo_server/storage/transcript_folder.py"),
        ("tests/game/test_transcripts.py", "tests/server/test_recordings.py", "tests/server/test_contest_standings.py"),
    ),
    "rules": Part(
        tuple(f"client_sdk/salvo/rules/{name}.py" for name in ("board", "book", "files", "fleet")),
        ("tests/sdk/test_rules.py", "tests/sdk/test_books.py", "tests/sdk/test_rule_files.py"),
    ),
    "codec": Part(
        tuple(
            f"client_sdk/salvo/codec/{name}.py"
            for name in (
                *("announcement_reader", "announcement_writer", "header", "json_codec", "log", "log_reader"),
                *("recap", "recap_reader", "recap_writer", "rules", "strict_json", "transcript"),
            )
        ),
        (
            "tests/sdk/test_codec.py",
            "tests/sdk/test_recap.py",
            "tests/sdk/test_strict_json.py",
            "tests/conformance/test_vectors.py::test_vector",
            "tests/game/test_log.py",
            "tests/game/test_transcripts.py",
            "tests/whole/test_protocol.py::test_another_major_version_is_reported_even_if_the_rest_is_unreadable",
        ),
    ),
    "witness": Part(
        ("client_sdk/salvo/join/fairness/witness.py",),
        (
            "tests/sdk/test_witness.py",
            "tests/whole/test_protocol.py::test_a_log_with_what_a_newer_server_added_is_not_taken_for_unfair",
        ),
    ),
    "commands": Part(
        tuple(f"client_sdk/salvo/codec/{name}.py" for name in ("commands", "command_reader", "command_writer")),
        ("tests/sdk/test_commands.py", "tests/conformance/test_vectors.py::test_vector"),
    ),
}
