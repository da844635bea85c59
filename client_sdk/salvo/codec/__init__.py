"""Bytes to messages and back: the one strict parser, and the one encoder, of both sides."""
