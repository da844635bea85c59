"""What a bot is, where its code comes from, and how it is called, wherever it plays."""
