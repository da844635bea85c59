"""Subscribe to topics at a broker, to all unless some are named, and print the topic of each message that comes.

    SALVO_SECRET=... python listen.py mqtt://USER@HOST:PORT [FILTER ...]

Ends with the reason as its last line when the broker refuses the account.
"""

from __future__ import annotations

import os
import sys

from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection


def main(url: str, filters: list[str]) -> None:
    password = os.environ.get("SALVO_SECRET")
    connection = Connection(url, f"listener-{os.getpid()}", clean_session=True, password=password)
    connection.on_connect = lambda _: connection.subscribe(filters)
    try:
        while True:
            for message in connection.poll(1.0):
                connection.acknowledge(message)
                print(message.topic, flush=True)
    except ConnectionLost as error:
        print(error.code, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or ["#"])
