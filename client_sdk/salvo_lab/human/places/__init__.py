"""Where a person plays: in this process, in a contest, or in place of a gateway's bot."""
