"""How a game looks, for every package that shows one: at a terminal or on a page.

Here live boards, their marks and colours (``boards``), a recorded game as frames (``replay``) and in words
(``replay_text``), and the self-contained page of a game with the frame, theme and emblems of all pages (``web_page``).
Nothing here reads a journal, a broker or a clock, and nothing knows whom it shows a game to beyond the view it is
given. Start reading in ``replay``, then ``web_page``.
"""
