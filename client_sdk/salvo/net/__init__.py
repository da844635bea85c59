"""The connection to a broker: MQTT over TCP, TLS or WebSocket. Nothing here knows the game."""
