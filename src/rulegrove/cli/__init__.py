"""The command line: one thin module for each command, which reads, calls the library and writes."""

import sys


def main() -> None:
    """Run the command line and exit: 0 when all went well, 1 for what the user can mend, 2 for wrong usage.

    Nothing of the library is loaded before a command needs it, so that help and completion are quick.
    """
    try:
        from rulegrove.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("Error: the command line needs typer and rich; install them with: pip install 'rulegrove[cli]'")
    except KeyboardInterrupt:  # so early that nobody else is there to catch it
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    run()
