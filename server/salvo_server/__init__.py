"""The contest server, for organisers: the authority over games of Battleship: Salvo on an MQTT broker.

The game itself, with its referee, log and records, is ``salvo_game``; how it looks is in ``salvo_display``. What only
spectators, leagues, older clients or doubters need stands in the packages above, which nothing here imports. Start
reading in ``service``, then ``core/inbox``.

core        decides: inbox, authenticator, the tables in play; no thread, socket or database
service     the one loop around it; wiring puts its parts together, contest runs it
storage     the journal, the roster and what else is on disk
brokers     the embedded broker, and mosquitto
spectators  what is published beyond the game: headlines, standings, the referee's view
host        a host's commands, the console, and cards to print
operations  metrics, status, the programs beside a server, finding it on this machine
settings    what an operator may set; settings_reference: each described once
standby     a second server that takes over
"""
