"""The one error of gateways."""

from __future__ import annotations

from salvo.errors import SalvoError


class GatewayError(SalvoError):
    """A client that cannot be admitted, a gateway that cannot be opened, or a game that cannot be played there."""
