"""`rulegrove demo`: a first look, with a table that is bundled."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note, shows_progress


def demo(
    output: Annotated[Path | None, options.output("Save the page to this file, not to rulegrove-demo.html.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in the browser.")] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Try it out: learn rules from a bundled table and open a page about them.

    Example: rulegrove demo
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_outputs
    from rulegrove.demo import PAGE, run_demo, say, show_page

    page = output or Path(PAGE)
    check_outputs({"--output": page})
    made = run_demo(page, None if as_json or quiet else say, verbose=int(shows_progress()))
    if as_json:
        print_json({"report": made.report, "rules": len(made.model.rules_), "errors": made.errors})
    hint = "" if no_open else show_page(made.report)
    if hint:
        note(hint)
