"""Makes the source distribution: `sdist.py FOLDER`. It builds without a network, given Rust and maturin.

What maturin packs lacks the crates from crates.io: they are added, with the setting by which cargo takes them
from there. The same sources give the same bytes.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENDORED = """\
# The crates from crates.io lie in vendor/: nothing is fetched.
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
"""


def make(folder: Path) -> Path:
    """Make the archive in `folder`."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        command = [sys.executable, "-m", "maturin", "sdist", "--out", str(scratch)]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        (packed,) = scratch.glob("*.tar.gz")
        with tarfile.open(packed) as archive:
            # Python 3.11.2, that of Debian 12, has no filters yet, and takes no notice.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(scratch)
        source = scratch / packed.name.removesuffix(".tar.gz")
        vendor(source)
        folder.mkdir(parents=True, exist_ok=True)
        whole = scratch / "whole"
        pack(source, whole)
        return Path(shutil.move(whole, folder / packed.name))


def vendor(source: Path) -> None:
    """Put the crates beside the sources, and tell cargo."""
    # The lock file is that of the whole workspace: crates that are not packed, and features that only they
    # want, leave it. Versions stay.
    prune = ["cargo", "update", "--workspace", "--offline", "--quiet"]
    subprocess.run(prune, cwd=source, check=True, stdout=subprocess.DEVNULL)
    command = ["cargo", "vendor", "--locked", "--versioned-dirs", "--quiet", "vendor"]
    subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    setting = source / ".cargo" / "config.toml"
    setting.parent.mkdir()
    setting.write_text(VENDORED)


def pack(source: Path, target: Path) -> None:
    """An archive without owners, times and the order of the file system."""
    with (
        target.open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path in sorted(path for path in source.rglob("*") if not path.is_dir()):
            entry = archive.gettarinfo(path, f"{source.name}/{path.relative_to(source)}")
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            with path.open("rb") as content:
                archive.addfile(entry, content)


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
