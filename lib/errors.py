"""The one error a user is meant to read: it names what is wrong, where, and what to do."""

# What a reader types before the name of a command, in the top folder of the repository.
COMMAND = ".venv/bin/python -m lib"


class UserError(Exception):
    """Bad input or a failed precondition; the command line prints it without a traceback and exits 1."""
