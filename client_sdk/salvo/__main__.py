"""``python -m salvo`` is the command ``salvo``."""

from salvo.cli import main

if __name__ == "__main__":
    main()
