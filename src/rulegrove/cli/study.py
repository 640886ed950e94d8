"""`rulegrove study`: the paper rerun."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import INTERRUPTED, note, shows_progress


def study(
    quick: Annotated[bool, typer.Option("--quick", help="Repeat less, for a look in about two minutes.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAME", help="Measure only this part, again unless --resume is given. May be repeated."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of processes. Without it, one for each core.")] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            "--out",
            metavar="FOLDER",
            help="Folder for results, figures and report. It is made if it does not exist.",
        ),
    ] = Path("study"),
    autoscan: Annotated[
        Path | None,
        typer.Option(
            "--autoscan", metavar="PATH", help="CSV file with real candidates, to be used instead of the simulation."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what was measured before and go on from there.")
    ] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the experiments of the paper again, with all tables and figures.

    Example: rulegrove study --quick -o study
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_apart
    from rulegrove.study import run
    from rulegrove.study.results import RESULTS_NAME

    check_apart({"--output": out / RESULTS_NAME}, [autoscan])
    parts = [name.strip() for names in only or () for name in names.split(",")]
    try:
        with _showing_progress() as show:
            report = run(out, quick=quick, only=parts, jobs=jobs, autoscan=autoscan, resume=resume, on_progress=show)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was measured is kept in '{out}'; go on with --resume.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json({"report": report, "markdown": out / "report.md", "results": out / RESULTS_NAME})
    else:
        note(f"Report written to '{report}'.")


@contextmanager
def _showing_progress() -> Iterator[Callable[[float, float, str], None] | None]:
    """Show a bar with the time left on standard error, if somebody is there to see it."""
    if not shows_progress():
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description:<36}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), speed_estimate_period=600) as bar:
        whole = bar.add_task("study", total=None)
        yield lambda done, total, key: bar.update(whole, completed=done, total=total, description=key[:36] or "study")
