"""The web front: one process that watches the broker, and shows every browser its tables (``salvo web``).

It holds no roster and no secret but its own account's, which may only read. A browser gets whole pictures of a table,
so it needs no memory of its own: what it shows is right after every reconnection.
"""
