"""Convert bytes to messages and back, for both sides: one strict parser and one encoder."""
