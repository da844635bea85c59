"""The command gateway, and one command a protocol."""
