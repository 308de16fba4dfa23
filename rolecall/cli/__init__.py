"""The command line: click commands, one file per family; each imports what it needs when it runs."""
