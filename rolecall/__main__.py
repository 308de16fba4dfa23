"""`python -m rolecall` is the `rolecall` command."""

from rolecall.cli.main import main

if __name__ == "__main__":
    main()
