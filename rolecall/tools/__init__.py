"""What a model may do, a file per family: schema, safety, effect."""
