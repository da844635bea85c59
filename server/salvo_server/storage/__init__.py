"""What a contest stores on disk: journal, transcripts, roster and identity."""
