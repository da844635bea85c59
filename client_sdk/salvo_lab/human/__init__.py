"""A person at a terminal or a browser, or a language model: a player like a built-in bot, but with a desk.

setup         how a fleet is placed, click by click; setup_actions: what keys, clicks and the list do to it
keys          what every key does; cursor: a square of a board, found by keys
snapshot      what the person is shown of a game
channel       where the thread of the game and that of the screen meet
sitting       what the person is at, and what its keys, clicks and words do; no toolkit
skins         chooses the terminal or the browser; the screen on one thread, the game on another
places        where the game is: in this process, in a contest, or in place of a gateway's bot
"""

#: What to write in place of a bot's name.
HUMAN = "human"
#: A language model, whose program calls tools.
MCP = "mcp"
#: Players who answer at a desk.
AT_DESKS = (HUMAN, MCP)
