"""What people look at: boards, heat maps and figures, as plain text and as HTML for a notebook's cell.

The HTML is tables with styles of their own: no script, nothing from elsewhere, and what somebody else named is escaped.
Squares bring both background and ink, all else takes the notebook's colours, so it is readable in light and dark
ones. No colour says what no letter says. Nothing here is imported before somebody looks.
"""

from salvo.lab.pictures.heat import HeatMap

__all__ = ["HeatMap"]
