"""The brokers that a contest runs on: one embedded in the server, and mosquitto."""

#: Where two programs of an older system speak through a gateway on an open broker: channel, then who listens.
CLASSIC_TOPIC = "/classic/{channel}/to-{side}"
CLASSIC_SIDES = ("server", "client")
