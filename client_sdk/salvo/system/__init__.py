"""What this machine gives: files, folders, streams, signals, logs, and the packages that are installed."""
