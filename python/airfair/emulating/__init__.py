"""Emulation: programs on real Linux stacks over the air of a scenario."""
