"""The picture of each thing that has one (:class:`salvo.pictured.Pictured`)."""

from __future__ import annotations

from functools import singledispatch

from salvo.pictured import Pictured
from salvo.pictures.boards import fleet_page
from salvo.pictures.results import comparison_page, outcome_page, played_page, simulation_page, summary_page
from salvo.pictures.views import view_page


@singledispatch
def page_of(thing: Pictured) -> str:
    """Return a thing as HTML for a notebook's cell."""
    raise TypeError(f"{type(thing).__name__} has no picture")


for _page in (fleet_page, view_page, outcome_page, played_page, simulation_page, comparison_page, summary_page):
    page_of.register(_page)
