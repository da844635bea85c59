"""Games against programs that hide their fleet: they answer the shots at it, and show it at the end, or never.

The referee of a table needs both fleets before the first shot, so such a game is played in the gateway alone, by its
own rules and without a server. When it is over, both fleets are known as far as they ever will be, and the game can be
written as a transcript like any other.

    answers     what the answers say of a fleet, and a fleet that agrees with them
    game        one game of a bot against such a program
    room        where it is played: one game at a time
"""
