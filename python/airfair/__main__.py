"""`python -m airfair`: the command line."""

from .cli import main

main()
