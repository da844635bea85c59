"""One player's side of the protocol: six small state machines and the :class:`Session` that feeds them.

Read ``tables`` first, then ``session``.
"""

from salvo.join.session.session import Session

__all__ = ["Session"]
