"""For spectators: games as they happen, and afterwards.

Here live the terminal's view of a table (``watching``), the web front with the hall (``web``), the archive of
recorded games and their pages (``archive``, ``games_page``), and the static site. An annex: it reads what anyone may
read, decides nothing, and can be deleted. How one board or one page looks is in ``salvo_display``. Start reading in
``watching``, then ``web/app``.
"""
