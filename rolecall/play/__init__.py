"""The player: a campaign played line by line in a terminal or a pipe."""
