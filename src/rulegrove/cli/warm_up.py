"""`rulegrove warm-up`: all kernels compiled, once after installation."""

from rulegrove.cli import options
from rulegrove.cli.errors import note, shows_progress


def warm_up(as_json: options.AsJson = False, quiet: options.Quiet = False) -> None:
    """Compile everything once after installation, so that no fit has to wait.

    Example: rulegrove warm-up
    """
    from rulegrove._progress import Progress
    from rulegrove.cli.output import print_json
    from rulegrove.warming import warm_up

    progress = Progress(int(shows_progress()))
    warmed = warm_up(progress.stage("Compiling"))
    progress.close()
    if as_json:
        print_json({"compiled": warmed.n_compiled, "seconds": warmed.seconds})
    else:
        note(str(warmed))
