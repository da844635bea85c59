"""One player's side of the protocol: six small state machines and the :class:`Session` that feeds them."""

from salvo.session.session import Session

__all__ = ["Session"]
