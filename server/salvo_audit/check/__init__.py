"""``salvo check``: a judge for clients in any language.

It starts the client against a broker and a server of its own, and tries, case by case, what the protocol asks of
clients. For authors of clients; nothing here belongs to a running contest.

A *case* is data: what is tried, which requirement says so, what to do about a failure. A *scenario*
(:mod:`.scenarios`) is a short function that plays on a :class:`.stage.Stage` and decides the cases that stand with it;
what holds for every message is judged in passing (cases in :mod:`.in_passing`, code in :mod:`.commands`).
:mod:`.catalog` collects all cases. :mod:`.own_broker` is the broker, :mod:`.table` the server, :mod:`.schema` the
reader, :mod:`.report` what people and programs get. Start reading at :mod:`.scenarios.turns`.
"""
