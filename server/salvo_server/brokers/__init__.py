"""The brokers that a contest runs on: one embedded in the server, and mosquitto."""
