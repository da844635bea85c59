"""Who may come and who the server is: accounts, keys, and the files that only their owner reads."""
