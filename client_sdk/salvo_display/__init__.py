"""How games look: boards, replays, pages."""
