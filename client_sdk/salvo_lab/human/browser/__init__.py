"""The page of a person at a browser of this machine."""
