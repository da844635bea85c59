"""What the guides say of the web front is what its code has."""

from __future__ import annotations

from kit.documents import ROOT
from salvo_watch.commands.web import MAX_CONNECTIONS
from salvo_watch.web import relay


def test_the_guide_to_scale_has_the_web_fronts_own_numbers() -> None:
    said = f"follows at most {relay.MAX_TABLES:,} tables, and admits {MAX_CONNECTIONS:,} browsers"
    assert said in (ROOT / "docs" / "scale.md").read_text()
