"""A source distribution has no benchmarks; where they cannot be imported, nothing is collected."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("benchmarks") else ["test_*.py"]
