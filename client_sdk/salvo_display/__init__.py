"""How a game looks, for every package that shows one: at a terminal or on a page.

Here live boards, their marks and colours (``boards``), a recorded game as frames (``replay``) and in words
(``replay_text``), the self-contained page of a game with the frame, theme and emblems of all pages (``web_page``), that
of standings (``standings_page``), what serves a page to one person (``web_server``), and the commands that show and
check a recorded game. A view knows nothing of whom it is shown to. Start reading in ``replay``, then ``web_page``.
"""
