"""The paper rerun: every table and figure of sections 4 to 6, and what it left for later.

`run` measures and draws, `draw` draws again from what was measured; ``rulegrove study`` is the same as a command.
"""

from rulegrove.study.config import Config, make_config
from rulegrove.study.parts import PARTS
from rulegrove.study.run import draw, run

__all__ = ["PARTS", "Config", "draw", "make_config", "run"]
