"""Where a single file is written: regular files are replaced whole, everything else is written to."""

from __future__ import annotations

import os
import socket
import stat
import threading
from pathlib import Path

import pytest
from airfair.output import check_writable, write_atomically

from tests.support import SHORT, THREE_PAIRS, airfair


def kind(path: Path) -> int:
    """The kind of a file, a link as itself."""
    return stat.S_IFMT(path.lstat().st_mode)


def reading(pipe: Path, into: list[bytes]) -> threading.Thread:
    """Somebody who reads a named pipe to its end."""
    thread = threading.Thread(target=lambda: into.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return thread


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "target"
    target.write_text("old")
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to("there/target")
    second.symlink_to("first")
    before = target.stat().st_ino
    check_writable(second)
    write_atomically(second, b"new")
    assert (second.readlink(), first.readlink()) == (Path("first"), Path("there/target"))
    assert target.read_bytes() == b"new"
    assert target.stat().st_ino != before, "whole or not at all"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["first", "second", "target", "there"]


def test_a_link_to_nothing_yet(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("deep/target")
    check_writable(link)
    write_atomically(link, b"new")
    assert (tmp_path / "deep" / "target").read_bytes() == b"new"
    assert link.is_symlink()


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for write in (check_writable, lambda path: write_atomically(path, b"new")):
        with pytest.raises(OSError, match="Too many levels of symbolic links"):
            write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = os.urandom(300_000)  # more than a pipe holds
    heard: list[bytes] = []
    check_writable(pipe)
    thread = reading(pipe, heard)
    write_atomically(pipe, content)
    thread.join(20)
    assert heard == [content]
    assert kind(pipe) == stat.S_IFIFO


def test_a_device_is_written_to(tmp_path: Path) -> None:
    before = Path("/dev/null").lstat()
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    for path in (Path("/dev/null"), link):
        check_writable(path)
        write_atomically(path, b"new")
    assert Path("/dev/null").lstat().st_rdev == before.st_rdev
    assert kind(Path("/dev/null")) == stat.S_IFCHR
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_atomically(Path("/dev/full"), b"new")
    assert kind(Path("/dev/full")) == stat.S_IFCHR


def test_what_cannot_be_written_to_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for write in (check_writable, lambda path: write_atomically(path, b"new")):
        with pytest.raises(IsADirectoryError):
            write(tmp_path / "folder")
        with pytest.raises(NotADirectoryError):
            write(Path("/dev/null/x"))
    name = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(name))
        with pytest.raises(OSError, match="No such device"):
            write_atomically(name, b"new")
    assert kind(name) == stat.S_IFSOCK


@pytest.mark.parametrize(
    ("command", "option", "ending"),
    [
        (("run", THREE_PAIRS, *SHORT), "--report", b"</html>"),
        (("compare", THREE_PAIRS, *SHORT, "--seeds", "1"), "--report", b"</html>"),
        (("plot", THREE_PAIRS), "-o", b"</svg>"),
        (("explain", THREE_PAIRS, *SHORT), "--out", b"</svg>"),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_commands_write_through_links_and_into_pipes(
    tmp_path: Path, command: tuple[str | Path, ...], option: str, ending: bytes
) -> None:
    name = "page.html" if option == "--report" else "picture.svg"
    target, link, pipe = tmp_path / "target", tmp_path / name, tmp_path / f"pipe-{name}"
    target.write_text("old")
    link.symlink_to("target")
    os.mkfifo(pipe)
    heard: list[bytes] = []
    thread = reading(pipe, heard)
    for path in (link, pipe):
        done = airfair(*command, option, path)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    thread.join(20)
    assert link.readlink() == Path("target")
    assert target.read_bytes().rstrip().endswith(ending)
    assert heard[0].rstrip().endswith(ending)
    assert kind(pipe) == stat.S_IFIFO


def test_a_full_device_is_named_and_stays() -> None:
    done = airfair("run", THREE_PAIRS, *SHORT, "--report", "/dev/full")
    assert (done.returncode, done.stderr) == (1, "airfair: /dev/full: No space left on device\n")
    assert kind(Path("/dev/full")) == stat.S_IFCHR
