"""The commands of the command line, each in a file of its own."""
