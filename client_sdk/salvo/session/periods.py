"""How long a session waits, and for what, in seconds."""

from __future__ import annotations

from typing import Final

#: How long a placement, a salvo or a request for the recap may go unanswered before it is sent again. A server that
#: derives keys for a full queue answers within three seconds; under a flood it may drop the first message, which a
#: second one makes up for.
PATIENCE_SECONDS: Final = 3.0
#: A salvo is sent again after at most this share of the turn's time, so that even a short turn has room for it.
PATIENCE_SHARE: Final = 1 / 3
#: The shortest and the longest pause between two requests to take part. Each is random, so that teams whose requests
#: were lost in one flood do not all ask again at once.
ASK_AGAIN_SECONDS: Final = (3.0, 8.0)
#: How long to wait for ``/game/server``, which tells whether to seal the secret. It is retained, so it comes with the
#: first messages; a server of the plain specification has no such topic, and its teams have a minute to place.
SERVER_SECONDS: Final = 2.0
#: After this long without news, the cause is probably wrong settings: retained messages come at once, answers soon.
SILENCE_SECONDS: Final = 5.0
