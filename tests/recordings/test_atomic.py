"""The one atomic writer: a kill or a full disk at any moment leaves the old file or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recordings.atomic import Draft, atomic

posix = pytest.mark.skipif(os.name == "nt", reason="kills and limits of POSIX")

OLD, NEW = b"old", b"new" * 100_000

# Writes a file and kills itself before the Nth of the calls that reach the disk.
KILLED = """
import os, signal, sys
from pathlib import Path
from recordings.atomic import atomic
target, moment = Path(sys.argv[1]), int(sys.argv[2])
calls = 0
def reach(name, call):
    def counted(*args, **more):
        global calls
        calls += 1
        if calls == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **more)
    return counted
os.fsync = reach("fsync", os.fsync)
os.replace = reach("replace", os.replace)
with atomic(target) as file:
    for _ in range(100):
        file.write(b"new" * 1000)
    reach("write", file.flush)()
print(calls)
"""


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".tmp"))


def test_the_new_contents_appear_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "weights.n2048"
    target.write_bytes(OLD)
    with atomic(target) as file:
        file.write(NEW)
        file.flush()
        assert target.read_bytes() == OLD
    assert target.read_bytes() == NEW
    assert left_over(tmp_path) == []


def test_a_block_that_raises_leaves_the_old_file_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.gif"
    target.write_bytes(OLD)
    with pytest.raises(ZeroDivisionError), atomic(target) as file:
        file.write(NEW[: 1 // (file.write(NEW) - len(NEW))])
    assert target.read_bytes() == OLD
    assert left_over(tmp_path) == []


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_kill_before_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, there: bool) -> None:
    contents = []
    for moment in range(1, 10):
        target = tmp_path / f"{moment}.bin"
        if there:
            target.write_bytes(OLD)
        child = subprocess.run(
            [sys.executable, "-c", KILLED, str(target), str(moment)], capture_output=True, check=False
        )
        contents.append(target.read_bytes() if target.exists() else None)
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
    # Killed at the flush, at the draft's fsync, at the rename, at the folder's fsync; then not at all.
    old = OLD if there else None
    assert contents == [old, old, old, NEW, NEW]


@posix
def test_the_next_writer_removes_the_draft_of_a_killed_one(tmp_path: Path) -> None:
    target = tmp_path / "net.bin"
    subprocess.run([sys.executable, "-c", KILLED, str(target), "3"], check=False)
    assert len(left_over(tmp_path)) == 1
    with atomic(target) as file:
        file.write(NEW)
    assert left_over(tmp_path) == []
    assert target.read_bytes() == NEW


@posix
def test_a_living_writer_keeps_its_draft_while_another_one_writes(tmp_path: Path) -> None:
    target = tmp_path / "net.bin"
    slow = Draft(target)
    slow.file.write(OLD)
    with atomic(target) as file:
        file.write(NEW)
    assert target.read_bytes() == NEW
    slow.publish()
    assert target.read_bytes() == OLD


@posix
def test_a_full_disk_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(OLD)
    limited = (
        "import resource, signal, sys\n"
        "from recordings.atomic import atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    with atomic(sys.argv[1]) as file:\n"
        "        file.write(b'x' * 2000)\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", limited, str(target)], capture_output=True, text=True, check=True
    )
    assert child.stdout == "File too large\n"
    assert target.read_bytes() == OLD
    assert left_over(tmp_path) == []


@posix
def test_a_link_stays_a_link_and_the_mode_of_the_file_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real.bin", tmp_path / "link.bin"
    real.write_bytes(OLD)
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic(link) as file:
        file.write(NEW)
    assert link.is_symlink()
    assert real.read_bytes() == NEW
    assert real.stat().st_mode & 0o777 == 0o640


@posix
def test_a_device_is_written_to_and_not_replaced() -> None:
    with atomic("/dev/null") as file:
        file.write(NEW)
    assert Path("/dev/null").is_char_device()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), atomic(tmp_path):
        pass


def test_the_longest_name_that_a_folder_takes_is_written(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    with atomic(target) as file:
        file.write(NEW)
    assert target.read_bytes() == NEW
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
