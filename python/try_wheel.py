"""Installs a wheel where there is no compiler and uses it: `try_wheel.py WHEEL`.

A fresh environment, a search path with nothing else on it, a folder outside the checkout. What it needs comes
as binaries, in the versions of `constraints.txt`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIO = HERE.parent / "scenarios" / "three-pairs.toml"
SHORT = ["--set", "duration=5 s", "--set", "warmup=1 s"]


class Installed:
    """An environment with the package and nothing from here."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        """Make the environment in `folder` and install the wheel."""
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        venv.create(folder / "venv", with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:"]
        constraints = ["--constraint", str(HERE / "constraints.txt")]
        self.run("python", *install, *constraints, str(wheel.resolve()))

    def run(self, program: str, *arguments: str) -> str:
        """The output of a program of the environment; it must succeed."""
        hidden = {"PYTHONPATH", "VIRTUAL_ENV", "CARGO_HOME", "RUSTUP_HOME", "CC"}
        environment = {key: value for key, value in os.environ.items() if key not in hidden}
        command = [str(self.bin / program), *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**environment, "PATH": str(self.bin)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout


def check(package: Installed) -> None:
    """Use what an installation is for. The result is that of the package in this checkout, byte for byte."""
    run = package.run("airfair", "run", str(SCENARIO), *SHORT, "--json")
    here = [sys.executable, "-m", "airfair", "run", str(SCENARIO), *SHORT, "--json"]
    checkout = subprocess.run(here, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert run.split(',"perf":')[0] == checkout.split(',"perf":')[0], (
        "another result than that of the checkout"
    )
    package.run("airfair", "run", str(SCENARIO), *SHORT, "--out", "run")
    assert (package.folder / "run" / "flow_series.parquet").is_file()
    papers = json.loads(package.run("airfair", "paper", "--json"))
    assert "nred/fig2" in [paper["id"] for paper in papers], papers
    assert json.loads(package.run("airfair", "reference", "--schema"))["title"] == "Airfair scenario"
    licences = package.run("python", "-c", "import importlib.metadata as m; print(m.files('airfair'))")
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"):
        assert name in licences, f"the wheel lacks {name}"


def check_tag(wheel: Path) -> None:
    """The wheel's name promises one binary for every Python, and the systems that auditwheel finds it fit
    for.
    """
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(told)
    found = re.search(r'platform tag:\s+"(manylinux_\w+)"', told)
    assert found, f"{wheel.name} fits no manylinux"
    assert found[1] in wheel.name, f"{wheel.name} needs {found[1]}"
    assert "-abi3-" in wheel.name, wheel.name


def main(wheel: Path) -> None:
    """Look at its name, install it, use it."""
    check_tag(wheel)
    with tempfile.TemporaryDirectory() as folder:
        check(Installed(Path(folder), wheel))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, installs without a compiler and runs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
