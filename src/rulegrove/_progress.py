"""Progress of long work on standard error: a moving bar where it can be redrawn, at the end a line for each stage."""

import sys
import time

BAR_WIDTH = 24
REFRESH_SECONDS = 0.1


class Progress:
    """Tell how far a fit is; silent unless asked to speak.

    Call `stage` at the start of each stage and pass the object itself wherever ``on_progress(done, total)`` is taken.
    """

    def __init__(self, verbose: int = 0):
        self._loud = verbose > 0
        self._name = ""
        self._started = self._shown = 0.0
        self._spent: dict[str, float] = {}
        self._drawn = 0  # letters of the bar

    def stage(self, name: str) -> "Progress":
        """Begin a stage, or go on with one that was begun before; the present one rests."""
        self._rest()
        self._name, self._started = name, time.perf_counter()
        self._shown = self._started  # a first guess of the time left would be wild
        return self

    def __call__(self, done: int, total: int) -> None:
        """Report that `done` of `total` is reached."""
        now = time.perf_counter()
        if not self._loud or now - self._shown < REFRESH_SECONDS or not _redraws():
            return
        self._shown = now
        share = min(done / total, 1.0) if total else 1.0
        left = (now - self._started) * (1.0 - share) / share if share else 0.0
        bar = "█" * round(BAR_WIDTH * share)
        line = f"{self._name:<22} {bar:<{BAR_WIDTH}} {share:4.0%}  {_tell(left)} left "
        self._drawn = max(self._drawn, len(line))
        sys.stderr.write(f"\r{line:<{self._drawn}}")
        sys.stderr.flush()

    def _rest(self) -> None:
        """Note the time of the running stage."""
        if self._name:
            self._spent[self._name] = self._spent.get(self._name, 0.0) + time.perf_counter() - self._started
        self._name = ""

    def close(self) -> None:
        """Finish: tell how long each stage took in all."""
        self._rest()
        if self._loud and self._spent:
            lines = [f"{name:<22} {seconds:7.2f} s\n" for name, seconds in self._spent.items()]
            blank = f"\r{' ' * self._drawn}\r" if self._drawn else ""  # notebooks know no other way to clear a line
            sys.stderr.write(blank + "".join(lines))
            sys.stderr.flush()
        self._spent.clear()
        self._drawn = 0


def _redraws() -> bool:
    """Whether what was written can be written over: on a terminal, and below the cell of a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


def _tell(seconds: float) -> str:
    """Return seconds as one would say them; always as wide, so that each line covers the one before."""
    return f"{seconds:6.1f} s" if seconds < 100.0 else f"{seconds / 60.0:4.0f} min"
