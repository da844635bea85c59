"""Games against programs that keep their fleet to themselves.

In some older systems each side keeps its own board and answers shots at it, and shows its fleet at the end, or never.
The referee of a table needs it before the first shot. So such a game is played twice. First the gateway plays it with
the program: its own fleet is placed as any other, and in place of the program's is one that agrees with every answer so
far, by which the engine judges; when no fleet agrees any more, the program has contradicted itself. At the end both
fleets are known, as far as they ever will be, and the game is played again at the table, by two teams of the gateway's
that place these fleets and fire these shots. There the referee has the last word, and journal, log, transcript and
views have the game like any other.

The alternatives were: to ask for the fleet at the start, which existing programs do not send; to place a fleet drawn at
random for the program, which would contradict its answers; or to let the referee believe answers, which would be the
end of its authority.

    replies     what answers tell of a fleet, and a fleet that agrees with them
    game        one game of a built-in bot against such a program
    house_bot   a bot of the gateway's at the table
    reenact     a finished game, played at the table
    room        where it is played: one game at a time, kept in a file until it has been played again
"""
