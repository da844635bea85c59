"""A person at a terminal: a player like a house bot, but with a screen and keys.

setup      how a fleet comes to be, click by click
sight      what the person is shown of a game
desk       where the thread of the game and that of the screen meet
app        the screen
local      a game in this process
contest    a game over MQTT
"""

#: What stands in place of a bot's name.
HUMAN = "human"
