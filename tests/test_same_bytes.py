"""The promise for a folder of results: the same bytes of every file but `perf` in `run.json`, whatever slices
of time the machine's speed cuts a run into, in whatever process and locale.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCHEMES = ("droptail", "nred", "few", "qfcp", "c3l", "diffq", "more", "exor")
"""Those with agents, controllers, router code, queues with gauges and forwarders are among them."""

PROCESSES = 8

NODES = {"a/b": (0, 0), "a_b": (200, 0), "c": (400, 0), "d": (600, 0), "e": (300, 150), "hill": (0, 4000)}
"""Names of which two want the same file; the hill is in the reach of all, three bands of delay away."""

SCENE = (
    'name = "bytes"\nduration = "300 ms"\nwarmup = "100 ms"\n'
    '[radio]\nstandard = "802.11b"\neifs_on_energy = true\nbackpressure = false\n'
    'propagation = { model = "log-distance", exponent = 3.0 }\n'
    'fading = { model = "rayleigh", coherence = "20 ms" }\n'
    + "".join(f'[[node]]\nid = "{name}"\nposition = ["{x} m", "{y} m"]\n' for name, (x, y) in NODES.items())
    + '[[node]]\nid = "host"\nradios = []\n'
    '[[link]]\nends = ["d", "host"]\nrate = "5 Mbit/s"\ndelay = "2 ms"\nloss = 0.05\n'
    '[[flow]]\nid = "up"\nfrom = "a/b"\nto = "d"\ntransport = "udp"\n'
    'traffic = { kind = "saturating", packet = "400 B" }\n'
    '[[flow]]\nid = "across"\nfrom = "e"\nto = "c"\ntransport = "udp"\n'
    'traffic = { kind = "saturating", packet = "400 B" }\n'
    '[[flow]]\nid = "far"\nfrom = "hill"\nto = "e"\ntransport = "udp"\n'
    'traffic = { kind = "saturating", packet = "400 B" }\n'
    '[[flow]]\nid = "files"\nfrom = "host"\nto = "a_b"\ntransport = "tcp"\n'
    'traffic = { kind = "arrivals", per_second = 20, size = "3 kB" }\n'
)

DRIVER = """
import json, sys
from airfair import _core, cli
about = json.loads(sys.argv[1])
_core.fix_slices(about["slices"])
for scheme in about["schemes"]:
    asked = ["--pcap", "all", "--trace", "--states", "--interval", "70 ms", "--scheme", scheme]
    if scheme == "diffq":
        asked += ["--set", 'radio.categories="diffq"']
    cli.cli(["run", about["scene"], *asked, "--out", scheme], standalone_mode=False)
"""


def locales(folder: Path) -> list[dict[str, str]]:
    """Two locales, the second with a comma in numbers if this machine can make it."""
    tool = shutil.which("localedef")
    made = folder / "de_DE"
    if tool is not None:
        subprocess.run([tool, "-i", "de_DE", "-f", "UTF-8", made], capture_output=True, check=False)
    other = {"LOCPATH": str(folder), "LC_ALL": "de_DE"} if made.is_dir() else {"LC_ALL": "C.UTF-8"}
    return [{"LC_ALL": "C"}, other]


def digests(folder: Path) -> dict[str, str]:
    """Every file of a result with a digest of its bytes; `run.json` as text without `perf`."""
    found = {}
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        if file.name == "run.json":
            about = json.loads(content)
            assert about.pop("perf")["wall_s"] > 0
            content = json.dumps(about).encode()
        found[file.name] = hashlib.sha256(content).hexdigest()
    return found


def slices(number: int) -> list[int]:
    """Lengths of slices, ns: for the first process those of the wall clock, for the others drawn ones, from
    many short slices to one long one."""
    draw = random.Random(number)
    most = (4e4, 1e6, 2e7, 6e8)[number % 4]
    return [] if number == 0 else [round(most ** draw.random() * draw.choice((1, 1, 20))) for _ in range(997)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Results of every scheme, a folder for each process."""
    root = tmp_path_factory.mktemp("bytes")
    scene = root / "scene.toml"
    scene.write_text(SCENE)
    by_locale = locales(root)
    made = []
    for number in range(PROCESSES):
        folder = root / str(number)
        folder.mkdir()
        environment = (
            os.environ
            | by_locale[number % 2]
            | {
                "PYTHONHASHSEED": str(number + 1),
                "TZ": ("UTC", "Asia/Kathmandu")[number // 2 % 2],
            }
        )
        about = {"slices": slices(number), "scene": str(scene), "schemes": SCHEMES}
        subprocess.run(
            [sys.executable, "-c", DRIVER, json.dumps(about)],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        made.append(folder)
    return made


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_file_has_the_same_bytes(folders: list[Path], scheme: str) -> None:
    first = digests(folders[0] / scheme)
    tables = {"channel", "completions", "flow_series", "flows", "frames", "queues", "states"}
    captures = {f"{name}.pcapng" for name in ("a_b", "a_b-2", "c", "d", "e", "hill", "host")}
    assert {"run.json", *captures, *(f"{table}.parquet" for table in tables)} <= set(first)
    for folder in folders[1:]:
        found = digests(folder / scheme)
        assert [name for name in found if found[name] != first.get(name)] == [], folder
        assert found.keys() == first.keys()


def test_files_of_captures_are_named_and_listed_by_the_names_of_nodes(folders: list[Path]) -> None:
    about = json.loads((folders[0] / "droptail" / "run.json").read_text())
    named = {name: f"{name}.pcapng" for name in ("c", "d", "e", "hill", "host")}
    expected = {"a/b": "a_b.pcapng", "a_b": "a_b-2.pcapng", **named}
    assert list(about["captures"].items()) == list(expected.items())


def test_slices_are_what_differs() -> None:
    """The processes do cut their runs differently: a scene of 300 ms into some slices to several thousand."""
    counts = []
    for number in range(1, PROCESSES):
        left, count, lengths = 300_000_000, 0, slices(number)
        while left > 0:
            left -= max(lengths[count % len(lengths)], 1)
            count += 1
        counts.append(count)
    assert min(counts) < 20
    assert max(counts) > 1000
    assert len(set(counts)) == len(counts)
