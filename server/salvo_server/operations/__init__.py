"""Running a server: its metrics, its status, the programs beside it, and finding it on this machine."""
