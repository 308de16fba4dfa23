"""The game's state as plain files: fights, conditions, resources, the calendar; and the directives that change it."""
