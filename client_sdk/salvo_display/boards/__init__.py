"""Pictures for people: boards, heat maps and figures, as plain text and as HTML for a notebook's cell.

The HTML is tables with inline styles: no scripts, no external resources, and foreign names are escaped. Squares set
both background and ink, everything else uses the notebook's colours, so it is readable in light and dark ones. No
information is in colour alone. Nothing here is imported before a picture is shown.
"""

from salvo_display.boards.heat_map import HeatMap

__all__ = ["HeatMap"]
