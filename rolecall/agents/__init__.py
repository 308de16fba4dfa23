"""The layers of the game master: prompt in, typed answer out."""
