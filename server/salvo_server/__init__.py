"""The contest server: the authority over games of Battleship: Salvo on an MQTT broker."""

#: Kept equal to the distribution's version by a test.
__version__ = "0.1.0"
