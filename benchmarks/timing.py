"""Clocks and memory: the first, compiling call is outside, the best of several counts."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def best_seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the shortest wall time of `repeats` calls after one call that warms up."""
    work()
    return min(_seconds(work) for _ in range(repeats))


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 3) -> tuple[float, float]:
    """Return the shortest seconds of both, measured in turn so that a busy moment of the machine hits both."""
    ours()
    theirs()
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(repeats)]
    return min(time for time, _ in times), min(time for _, time in times)


def resident_bytes() -> int:
    """Return the memory that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def peak_bytes() -> int:
    """Return the most memory that the process has held since `reset_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("this system does not tell the peak memory of a process")


def reset_peak() -> None:
    """Forget the peak memory so far (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def in_new_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module in a fresh interpreter and read the JSON that it prints last."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
