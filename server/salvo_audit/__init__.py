"""For anyone who doubts a result or a contest.

Here live the examination of a contest's configuration (``doctor``) and the check of one's own client or server. An
annex: the contest runs without it. The verification of signed logs, which replays and standings need as well, is
``salvo_game.log_verification``. Start reading in ``doctor``, then ``check``.
"""
