"""From a configuration to raw results, and from raw results to the report."""

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from rulegrove.exceptions import InvalidInputError
from rulegrove.study.config import Config, make_config
from rulegrove.study.parts import PARTS, choose_parts
from rulegrove.study.parts.base import Task, run_task
from rulegrove.study.report import write_report
from rulegrove.study.results import RESULTS_NAME, Ledger, Line, Results, read_lines
from rulegrove.study.splits import check_candidates

OnProgress = Callable[[float, float, str], None]


def run(
    out: str | os.PathLike[str] = "study",
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    jobs: int | None = None,
    autoscan: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Path:
    """Rerun the paper: measure, then draw tables, figures and the report.

    Results are written to ``results.csv`` as they come, a task at a time, so that a run that was stopped goes on with
    ``resume=True`` where it was.

    Parameters
    ----------
    out : str or path, default="study"
        Directory of results, figures and report; made if it is not there.
    quick : bool, default=False
        Few repetitions, in about two minutes; every page says so.
    only : sequence of str, default=()
        Parts to measure, see `rulegrove.study.PARTS`; all by default. What `out` holds of them is measured anew unless
        `resume`, what it holds of the others is kept.
    jobs : int, default=None
        Processes; as many as there are cores by default. Parts that time something run alone, after the others.
    autoscan : str or path, optional
        File of the real candidates for supernovae, in place of the simulation; see `rulegrove.datasets.load_autoscan`.
    resume : bool, default=False
        Keep what is measured already and go on.
    on_progress : callable, optional
        Called with the seconds of work done, those of all work, both guessed, and the task that was finished.

    Returns
    -------
    Path
        The report, ``report.html``; ``report.md`` is the same as Markdown.

    Raises
    ------
    InvalidInputError
        On an unknown part, a directory that cannot be written to, a damaged file of results or one of another
        kind of study, results that would be lost, a wrong table of candidates.

    Examples
    --------
    >>> import tempfile
    >>> from rulegrove import study
    >>> report = study.run(tempfile.mkdtemp(), quick=True, only=["sets"], jobs=1)
    >>> report.name
    'report.html'
    """
    if autoscan is not None and not Path(autoscan).is_file():
        raise InvalidInputError(
            f"`autoscan` must be the CSV file of the candidates; there is no file {str(autoscan)!r}."
        )
    config = make_config(quick=quick, autoscan=autoscan)
    return run_config(config, Path(out), only=only, jobs=jobs, resume=resume, on_progress=on_progress)


def run_config(
    config: Config,
    directory: Path,
    *,
    only: Sequence[str] = (),
    jobs: int | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Path:
    """Measure and draw a study of any size; see `run`."""
    parts = choose_parts(only)
    n_jobs = (os.cpu_count() or 1) if jobs is None else jobs
    if n_jobs < 1:
        raise InvalidInputError(f"`jobs` must be at least 1; got {n_jobs}.")
    check_candidates(config)
    _check_directory(directory)
    ledger = Ledger(directory, config)
    if len(ledger.results) and not resume:
        if not only:
            raise InvalidInputError(
                f"{str(ledger.path)!r} holds results already; go on with them (resume), measure single parts anew "
                "(only), or write to another directory."
            )
        ledger.drop(part.name for part in parts)
    tasks = [task for part in parts for task in part.list_tasks(config) if task.key not in ledger.finished]
    _measure_all(tasks, config, ledger, n_jobs, on_progress or (lambda *_: None))
    return write_report(ledger.results, directory, config)


def draw(directory: str | os.PathLike[str]) -> Path:
    """Draw tables, figures and report from the results that are in a directory; unfinished parts are left out.

    Returns
    -------
    Path
        The report, ``report.html``.
    """
    directory = Path(directory)
    path = directory / RESULTS_NAME
    if not path.is_file():
        raise InvalidInputError(f"There are no results to draw: no file {str(path)!r}.")
    lines = read_lines(path)
    if not lines:
        raise InvalidInputError(f"There are no results to draw: {str(path)!r} has no lines.")
    config = replace(make_config(quick=lines[0].mode == "quick"), table=lines[0].table)
    return write_report(Results(lines), directory, config)


def _measure_all(tasks: Sequence[Task], config: Config, ledger: Ledger, n_jobs: int, on_progress: OnProgress) -> None:
    """Measure what can share the machine in processes, the longest tasks first, and then what must have it alone."""
    shared = sorted((task for task in tasks if not PARTS[task.part].alone), key=lambda task: -task.cost)
    alone = [task for task in tasks if PARTS[task.part].alone]
    total, done = sum(task.cost for task in tasks), 0.0
    on_progress(done, total, "")
    for task, lines in chain(_in_processes(shared, config, n_jobs), _in_processes(alone, config, 1)):
        ledger.add(lines)
        done += task.cost
        on_progress(done, total, task.key)


def _in_processes(tasks: Sequence[Task], config: Config, n_jobs: int) -> Iterator[tuple[Task, list[Line]]]:
    """Measure tasks in processes of one thread each, a single one here; yield them as they are done."""
    if n_jobs == 1 or len(tasks) < 2:
        yield from ((task, _work(task, config)) for task in tasks)
        return
    with _one_thread_each():
        pool = ProcessPoolExecutor(n_jobs, multiprocessing.get_context("spawn"), initializer=_end_with_parent)
        try:
            waiting: dict[Future[list[Line]], Task] = {pool.submit(_work, task, config): task for task in tasks}
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool as error:
            raise ChildProcessError(
                "A process of the study was ended from outside, perhaps for want of memory; what was measured is "
                "kept. Go on with resume, with fewer jobs."
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Have this process end when the one that started it is gone: a killed study must not leave workers behind."""
    parent = multiprocessing.parent_process()

    def end_after() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_after, daemon=True).start()


def _work(task: Task, config: Config) -> list[Line]:
    """Measure a task, in whatever process."""
    return run_task(PARTS[task.part], task, config)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Have processes that are started meanwhile use one thread, however a library counts them."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _check_directory(directory: Path) -> None:
    """Make the directory, and refuse one that cannot be written to before an hour is spent."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise InvalidInputError(
            f"The results cannot be written to {str(directory)!r}: {error.strerror}. Choose another directory."
        ) from error
