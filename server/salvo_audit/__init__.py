"""For anyone who doubts a result or a contest.

Here live the examination of a contest's configuration (``doctor``), the check of one's own client or server, and the
commands that verify signed logs. An annex: the contest runs without it. The verification itself, which replays and
standings need as well, is ``salvo_game.log_verification``. Start reading in ``commands/verify``, then ``doctor``.
"""
