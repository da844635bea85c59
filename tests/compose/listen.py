"""Subscribe to topics at a broker, to all unless some are named, and print the topic of each message that comes.

    python listen.py mqtt://USER:SECRET@HOST:PORT [FILTER ...]

Ends with the reason as its last line when the broker refuses the account.
"""

from __future__ import annotations

import os
import sys

from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection


def main(url: str, filters: list[str]) -> None:
    connection = Connection(url, f"listener-{os.getpid()}", clean_session=True)
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
