"""Prints what `pyproject.toml` asks for, the package's own and that of groups: `requirements.py GROUP...`.

`pip install .[dev]` would build the package too; the build comes later, and into the same environment.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main(groups: list[str]) -> None:
    """Print the package's requirements and those of the groups."""
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][group] for group in groups)]
    print("\n".join(requirement.replace(" ", "") for requirements in lists for requirement in requirements))


if __name__ == "__main__":
    main(sys.argv[1:])
