"""What a host of a contest uses: commands to its tables, the console, and cards to print."""
