"""The contest server, for organisers: the authority over games of Battleship: Salvo on an MQTT broker.

Here live the pure core (``core``: inbox, authenticator, referee, tables), the one loop around it (``service``),
storage, both brokers, settings, standings, the roster, metrics and the standby. What only spectators, leagues, older
clients or doubters need stands in the packages above, which nothing here imports; how a game looks is in
``salvo_display``. Start reading in ``service``, then ``core/inbox`` and ``core/transitions``.
"""
