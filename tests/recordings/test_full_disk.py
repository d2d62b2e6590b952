"""A full disk: one sentence, nothing broken left behind, and the dataset goes on once there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.dataset_games import played

from recordings.datasets.dataset_file import FORMATS, read_games

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX does")

# Grows a dataset of 12 games on a disk that takes ever longer files, until it is finished.
GROWING = """
import resource, signal, sys
from pathlib import Path
from game2048.errors import RecordError
from recordings.datasets.formats.chunks import Chunk
from recordings.datasets.resumable import GrowingDataset
from support.dataset_games import played
target = Path(sys.argv[1])
games = [played(4, 4, seed) for seed in range(12)]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
errors, room = set(), 0
while True:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        with GrowingDataset(target, "resume") as dataset:
            there = sum(1 for _ in dataset.games())
            for number in range(there, len(games)):
                dataset.append(Chunk(number, 1, [games[number]]))
            dataset.finish()
        break
    except RecordError as error:
        errors.add(str(error))
    room += 20_000
for error in sorted(errors):
    print(error)
"""


@pytest.mark.parametrize("extension", FORMATS)
def test_a_dataset_goes_on_after_the_disk_was_full(tmp_path: Path, extension: str) -> None:
    target = tmp_path / f"games{extension}"
    child = subprocess.run(
        [sys.executable, "-c", GROWING, str(target)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, "")
    told = child.stdout.splitlines()
    assert told
    assert all(line.endswith("cannot be written: File too large") for line in told)
    games = list(read_games(target))
    assert len(games) == 12
    for seed, game in enumerate(games):
        assert game.equals(played(4, 4, seed))
    names = {path.name for path in tmp_path.iterdir()}
    assert names <= {target.name, f"games.games{extension}"}
