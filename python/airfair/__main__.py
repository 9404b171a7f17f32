"""`python -m airfair`: the command line."""

from .start import main

main()
