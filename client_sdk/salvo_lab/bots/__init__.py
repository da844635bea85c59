"""The bots that ship, to play against and to read.

Each module is an example that stands alone: what it imports is what your own bot would import.
"""
