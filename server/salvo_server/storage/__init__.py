"""What a contest keeps on disk: journal, transcripts, roster and identity."""
