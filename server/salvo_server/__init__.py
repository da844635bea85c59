"""The contest server: the authority over games of Battleship: Salvo on an MQTT broker."""
