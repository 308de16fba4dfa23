"""The folder as data: durable files, documents, kinds, state, chronicles, arcs, story, records, checks."""
