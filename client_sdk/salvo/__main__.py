"""``python -m salvo`` is the command ``salvo``, which another package of the distribution has."""

from importlib.metadata import entry_points

if __name__ == "__main__":
    command = next(iter(entry_points(group="console_scripts", name="salvo")), None)
    if command is None:
        raise SystemExit("salvo is here as a library alone; for its commands: pip install battleship-salvo")
    command.load()()
