"""Builds the source distribution where nothing can be fetched: `try_sdist.py ARCHIVE FOLDER`.

Into FOLDER go the sources and what they are compiled to; it is kept, so that the next time is quicker. What
is built is not optimised: the question is whether all that is needed is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

QUICK = {"LTO": "off", "OPT_LEVEL": "0", "CODEGEN_UNITS": "16", "DEBUG": "0"}
NEEDED = (
    "_core.abi3.so",
    "_core.pyi",
    "py.typed",
    "airfair_papers/nred/fig2.toml",
    "licenses/THIRD-PARTY.txt",
)


def build(archive: Path, folder: Path) -> Path:
    """Build a wheel from the archive alone, with a cargo that has no cache and no network."""
    shutil.rmtree(folder / "source", ignore_errors=True)
    shutil.rmtree(folder / "wheel", ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder / "source")
    (source,) = (folder / "source").iterdir()
    profile = {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in QUICK.items()}
    # maturin is found by its name.
    own = {
        "CARGO_HOME": str(folder / "cargo"),
        "CARGO_NET_OFFLINE": "true",
        "CARGO_TARGET_DIR": str(folder / "target"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder / "wheel"), str(source)]
    subprocess.run(command, check=True, env={**os.environ, **profile, **own})
    (wheel,) = (folder / "wheel").glob("airfair-*.whl")
    return wheel


def main(archive: Path, folder: Path) -> int:
    """Build it and look whether all is in what comes out."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = build(archive, folder.resolve())
    names = zipfile.ZipFile(wheel).namelist()
    missing = [needed for needed in NEEDED if not any(name.endswith(needed) for name in names)]
    if missing:
        print(f"{archive.name}: its wheel lacks {', '.join(missing)}", file=sys.stderr)
        return 1
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB, builds without a network")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
