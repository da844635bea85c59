"""The two-player game of document 000, statement by statement, each with the test that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_TESTS: Final = Path(__file__).parents[1]
_SETUP: Final = "lab/test_human_setup.py"
_SITTING: Final = "lab/test_human_sitting.py"
_PAGE: Final = "lab/test_human_page.py"
_SIGHT: Final = "lab/test_human_sight.py"
_KEYS: Final = "lab/test_human_screen.py"
_BROWSER: Final = "lab/live/test_human_in_a_browser.py"
_CONTEST: Final = "lab/live/test_human_play.py"
_OLDER: Final = "gateways/live/test_person_at_a_gateway.py"
_GUARDS: Final = "server/live/test_own_pages.py"
_MOUSE: Final = "test_a_game_is_set_up_and_won_with_a_mouse_and_a_reload_shows_the_same_moment"
_KEYBOARD: Final = "test_a_game_is_set_up_and_won_by_keyboard_alone"
_CLICKS: Final = "test_a_person_who_clicks_at_a_gateway_plays_a_program_of_the_older_system"
_LIST: Final = "test_the_list_of_actions_offers_only_those_possible_now"
_OFFERS: Final = "test_choosing_one_end_of_a_ship_offers_its_possible_other_ends"
_TWO_GAMES: Final = "test_a_person_at_a_gateway_plays_a_program_of_the_older_system"

STATEMENTS: Final = [
    ("the title is Connecting as server, or client, until both are there", _OLDER, _CLICKS),
    ("nothing can be clicked until then", _OLDER, _CLICKS),
    ("the grid has rows A to J and columns 1 to 10", _KEYS, "test_a_fleet_is_set_by_keys"),
    ("the list has exactly the ships that are not placed", _SITTING, _LIST),
    ("Cancel is there only while setting or deleting", _SITTING, _LIST),
    ("Delete is there only when a ship stands", _SITTING, _LIST),
    ("Done is there only as long as all ships are placed", _SITTING, _LIST),
    ("the chosen ship stands out and the others are masked", _BROWSER, _MOUSE),
    ("a valid square is allocated, and up to four other ends are green", _SETUP, _OFFERS),
    (
        "where no ship is possible a click is refused with the reason, and nothing changes",
        _SETUP,
        "test_a_square_without_a_possible_ship_is_refused_and_the_choice_restarts",
    ),
    ("ships may touch at corners", _SETUP, "test_the_room_shown_for_a_ship_is_exactly_where_it_may_be_placed"),
    ("a green square places the ship and takes it off the list", _SETUP, _OFFERS),
    (
        "another square starts over, and Cancel leaves the board as it was",
        _SETUP,
        "test_a_square_without_a_possible_ship_is_refused_and_the_choice_restarts",
    ),
    ("a deleted ship is back in the list", _SETUP, "test_every_change_of_a_fleet_is_taken_back_the_latest_first"),
    ("after Done the title is Waiting, until the other has placed", _KEYS, "test_a_fleet_is_set_by_keys"),
    ("there are two areas, the own grid and the target", _BROWSER, _MOUSE),
    ("the server begins the first game, the client the next one", _OLDER, _TWO_GAMES),
    ("who waits can click nothing", _PAGE, "test_a_click_on_an_outdated_page_does_nothing"),
    (
        "an incoming shot is said: A5 missed, hit, Cruiser sunk",
        _SIGHT,
        "test_under_cell_announcements_shots_are_reported_in_board_game_words",
    ),
    ("a click fires where a turn has one shot, else it chooses", _KEYS, "test_a_turn_s_shots_are_chosen_and_fired"),
    (
        "the cells of a ship that has sunk stand out from other hits",
        _SIGHT,
        "test_all_hits_of_a_ship_that_has_sunk_stand_out_from_other_hits",
    ),
    (
        "a shot at a known square is refused, or allowed, as the rules say",
        _SITTING,
        "test_a_square_that_was_shot_at_is_refused_where_the_rules_refuse_it",
    ),
    ("both players learn of a sinking", _OLDER, _TWO_GAMES),
    (
        "at the end Restart asks for another game, and a click does nothing",
        _SITTING,
        "test_restart_asks_for_another_game_once_and_a_click_after_the_end_does_nothing",
    ),
    ("a page that is closed or loaded again loses no game", _BROWSER, _MOUSE),
    (
        "who leaves a game is asked once",
        _SITTING,
        "test_leaving_a_game_needs_confirmation_and_any_other_action_cancels_it",
    ),
    (
        "a line that is cut and a server that is killed are said, and the turn goes on",
        _CONTEST,
        "test_a_person_s_turn_goes_on_after_the_line_was_cut_and_after_the_server_was_killed",
    ),
    (
        "a person who has gone comes back to its game",
        _CONTEST,
        "test_a_person_who_leaves_a_contest_comes_back_to_its_game_and_wins_it",
    ),
    ("a click that comes too late fires nothing", _PAGE, "test_a_click_on_an_outdated_page_does_nothing"),
    ("a whole game by mouse", _BROWSER, _MOUSE),
    (
        "a finger chooses, and Fire fires",
        _SITTING,
        "test_a_finger_chooses_and_fire_fires_where_a_click_would_have_fired_at_once",
    ),
    ("a whole game by keyboard alone", _BROWSER, _KEYBOARD),
    ("a screen reader announces whose turn it is", _BROWSER, _KEYBOARD),
    ("a whole game by each ruleset", _BROWSER, "test_a_game_by_every_ruleset_is_won_by_clicking"),
    ("a whole game in a contest", _BROWSER, "test_a_game_at_a_table_of_a_contest_is_played_by_clicking"),
    ("axe finds nothing, and nothing comes from another host", _BROWSER, _MOUSE),
    ("nobody else gets in", _GUARDS, "test_a_request_of_another_page_or_a_stranger_is_refused"),
]


def test_each_statement_of_the_two_player_game_has_a_test() -> None:
    modules = {module for _, module, _ in STATEMENTS}
    texts = {module: (_TESTS / module).read_text() for module in modules}
    assert [each for each in STATEMENTS if f"\ndef {each[2]}(" not in texts[each[1]]] == []
