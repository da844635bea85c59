"""The commands verify and doctor."""
