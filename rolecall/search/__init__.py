"""Finding things again: passages, the index, the watcher, name matching, ranking."""
