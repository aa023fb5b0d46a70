"""``python -m bytepair``: the same as the command ``bytepair``."""

from bytepair.cli import main

main()
