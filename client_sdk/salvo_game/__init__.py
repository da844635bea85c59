"""The game as an authority plays, records and checks it, without a server.

Here live the referee (``referee``) with its table of transitions and the steps of lobby, states and match; a table that
chains what was announced (``table``) and its signed log (``log``); the records of a journal (``journal_interface``) and
games restored from them (``recovery``), as files (``transcript``) and as either (``recordings``); the verification of
signed logs (``log_verification``) and standings from results (``standings``). Time, randomness and keys are arguments:
no socket, thread, timer or database. Start reading in ``transitions``, then ``table``.
"""
