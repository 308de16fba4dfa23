"""The life of a turn: runs the agents, assembles the context, applies what they decided."""
