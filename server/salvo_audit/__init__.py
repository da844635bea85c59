"""For anyone who doubts a result or a contest."""
