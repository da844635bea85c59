"""``salvo check``: a judge for clients in any language.

It starts the client against a broker and a server of its own, and tries, case by case, what the protocol asks of
clients. For authors of clients; nothing here belongs to a running contest.

A *case* (:mod:`.catalog`) is data: what is tried, which requirement says so, what to do about a failure. A *scenario*
(:mod:`.scenarios`) is a short function that plays on a :class:`.stage.Stage` and decides some cases; what holds for
every message is judged in passing (:mod:`.commands`). :mod:`.own_broker` is the broker, :mod:`.table` the server,
:mod:`.schema` the reader, :mod:`.report` what people and programs get. Start reading at :mod:`.scenarios.turns`.
"""
