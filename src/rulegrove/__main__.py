"""``python -m rulegrove``: the command line."""

from rulegrove.cli import main

main()
