"""What a new process takes before it answers: ``python -m benchmarks.start_up``. Prints a table.

Each line is the least of several runs, in turn, of the seconds on the clock and of those of the processor: a shared
machine lengthens the first more than the second. "import numpy" is the yardstick for other machines.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "import rulegrove": ["-c", "import rulegrove"],
    "load_model": ["-c", "from rulegrove import load_model; load_model('model.json')"],
    "rulegrove --help": ["-m", "rulegrove", "--help"],
    "rulegrove fit --help": ["-m", "rulegrove", "fit", "--help"],
    "rulegrove rules": ["-m", "rulegrove", "rules", "model.json"],
    "rulegrove shorten": ["-m", "rulegrove", "shorten", "model.json", "--max-terms", "5", "-o", "short.json"],
    "a missing file": ["-m", "rulegrove", "fit", "nothing.csv", "--target", "class"],
    "an unknown column": ["-m", "rulegrove", "fit", "pima.csv", "--target", "clas"],
    "an unknown option": ["-m", "rulegrove", "fit", "--nothing"],
    "no model file": ["-m", "rulegrove", "rules", "pima.csv"],
}


def run(words: list[str], folder: Path) -> tuple[float, float]:
    """Return the seconds of a process, on the clock and of the processor."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=False)
    seconds, after = time.perf_counter() - start, os.times()
    used = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    return seconds, used


def main() -> None:
    """Measure every command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(["-m", "rulegrove", "datasets", "pima", "-o", "pima.csv"], folder)
        run(["-m", "rulegrove", "fit", "pima.csv", "--target", "class", "-o", "model.json"], folder)
        taken = [{name: run(words, folder) for name, words in COMMANDS.items()} for _ in range(repeats)]
    for name in COMMANDS:
        clock, used = (min(one[name][place] for one in taken) for place in (0, 1))
        print(f"{name:<22} {clock:6.2f} s on the clock {used:6.2f} s of the processor")


if __name__ == "__main__":
    main()
