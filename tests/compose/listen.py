"""Subscribe to everything at a broker, and print the topic of each message that comes, one a line.

    python listen.py mqtt://USER:SECRET@HOST:PORT

Ends with the reason as its last line when the broker refuses the account.
"""

from __future__ import annotations

import sys

from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection


def main(url: str) -> None:
    connection = Connection(url, "listener", clean_session=True)
    connection.on_connect = lambda _: connection.subscribe(["#"])
    try:
        while True:
            for message in connection.poll(1.0):
                connection.acknowledge(message)
                print(message.topic, flush=True)
    except ConnectionLost as error:
        print(error.code, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
