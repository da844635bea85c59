"""``python -m salvo_server`` is ``salvo``."""

from salvo_server.cli import main

if __name__ == "__main__":
    main()
