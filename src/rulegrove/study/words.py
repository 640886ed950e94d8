"""The words of the report, which stand in `words.toml`."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from rulegrove import __version__
from rulegrove.study.config import Config
from rulegrove.study.results import Results

_WORDS = tomllib.loads(files("rulegrove.study").joinpath("words.toml").read_text(encoding="utf-8"))
INTRODUCTION: list[str] = _WORDS["introduction"]
DEPARTURES: list[str] = _WORDS["departures"]
ERRATA: list[str] = _WORDS["errata"]
PART_TITLES: dict[str, str] = {name: part["title"] for name, part in _WORDS["parts"].items()}
PART_WORDS: dict[str, list[str]] = {
    name: [_WORDS["candidates"]] * part.get("on_candidates", False) + part.get("words", [])
    for name, part in _WORDS["parts"].items()
}


@dataclass(frozen=True)
class Picture:
    """A figure of the report."""

    name: str  # of its file
    part: str  # whose results it shows
    caption: str  # what is seen, for who has not read the code
    place: str = ""  # of the figure in the paper that it redoes; empty beyond the paper

    @property
    def long_caption(self) -> str:
        """What is seen, and which figure of the paper it redoes."""
        return f"{self.caption} " + (f"In the paper: “{self.place}”." if self.place else "Not in the paper.")


PICTURES = tuple(Picture(name, **about) for name, about in _WORDS["figures"].items())


def describe_run(results: Results, config: Config) -> str:
    """Return the sentence that every page carries: mode, repetitions, candidates, version."""
    where = "simulated candidates" if config.table == "simulation" else f"the survey table ({config.table})"
    tasks = {one.task: one.seconds for one in results}
    work = f"{len(tasks)} tasks, {sum(tasks.values()) / 60:.1f} minutes of work in all"
    return f"{config.words} On {where}; rulegrove {__version__}; {work}."
