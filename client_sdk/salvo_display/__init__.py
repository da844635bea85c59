"""How a game looks, for every package that shows one: at a terminal, on a page, in a notebook.

Here live pictures of boards and their marks (``pictures``), a recorded game as frames (``replay``) and in words
(``replay_text``), live boards of a terminal (``screen``), the self-contained page of a game with the frame, theme and
emblems of all pages (``page``), and the folder of a static site. Nothing here reads a journal, a broker or a clock,
and nothing knows whom it shows a game to beyond the view it is given. Start reading in ``replay``, then ``page``.
"""
