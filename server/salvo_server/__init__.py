"""The contest server, for organisers: the authority over games of Battleship: Salvo on an MQTT broker.

Here live the pure core (``core``: inbox, authenticator, the tables in play), the one loop around it (``service``),
storage, both brokers, settings, the published standings, the roster, metrics and the standby. The game itself, with its
referee, log and records, is ``salvo_game``; how it looks is in ``salvo_display``. What only spectators, leagues, older
clients or doubters need stands in the packages above, which nothing here imports. Start reading in ``service``, then
``core/inbox``.
"""
