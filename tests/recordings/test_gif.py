from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from PIL import Image, ImageSequence
from support.recorded import random_game, worked_game

from game2048 import Board
from game2048.errors import RecordError
from recordings import GameRecord
from recordings.pictures.board_image import Renderer
from recordings.pictures.gif import chosen_states, write_gif


def pictures_of(record: GameRecord, states: list[int], size: int = 400) -> list[Image.Image]:
    """What the frames of a GIF must show."""
    final = Board.from_tiles(record.final_board)
    renderer = Renderer(final.rows, final.columns, size)
    every = [(Board.from_tiles(move.board), move.score) for move in record.moves]
    every.append((final, record.final_score))
    return [renderer.colour(renderer.picture(*every[state], state)) for state in states]


def frames_of(path: Path) -> list[Image.Image]:
    with Image.open(path) as gif:
        return [frame.convert("RGB") for frame in ImageSequence.Iterator(gif)]


def durations_of(path: Path) -> list[int]:
    with Image.open(path) as gif:
        return [frame.info["duration"] for frame in ImageSequence.Iterator(gif)]


def assert_same(found: list[Image.Image], expected: list[Image.Image]) -> None:
    assert [frame.size for frame in found] == [frame.size for frame in expected]
    assert [frame.tobytes() for frame in found] == [frame.tobytes() for frame in expected]


def test_a_short_game_has_a_frame_for_each_state(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    write_gif(worked_game(), path)
    assert_same(frames_of(path), pictures_of(worked_game(), [0, 1, 2, 3, 4, 5]))
    assert durations_of(path) == [100] * 5 + [2500]
    with Image.open(path) as gif:
        assert gif.info["loop"] == 0
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]


def test_a_long_game_is_shown_in_frames_spread_from_its_start_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    record = random_game(4, 4, 11, 99)
    assert record.total_moves == 99
    write_gif(record, path, max_frames=12, frame_ms=40, hold_ms=1000, size=200)
    states = [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    assert_same(frames_of(path), pictures_of(record, states, size=200))
    assert durations_of(path) == [40] * 11 + [1000]


@pytest.mark.parametrize(
    ("count", "frames", "chosen"),
    [
        (1, 5, [0]),
        (5, 5, [0, 1, 2, 3, 4]),
        (6, 5, [0, 1, 3, 4, 5]),
        (101, 5, [0, 25, 50, 75, 100]),
        (101, 2, [0, 100]),
        (101, 1, [100]),
    ],
)
def test_states_are_chosen_evenly(count: int, frames: int, chosen: list[int]) -> None:
    assert chosen_states(count, frames) == chosen


def test_boards_of_other_sizes_and_games_without_moves_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    for rows, columns in ((2, 8), (8, 2), (5, 5), (4, 6)):
        record = random_game(rows, columns, 1, 8)
        write_gif(record, path, size=300)
        assert_same(frames_of(path), pictures_of(record, list(range(9)), size=300))
    write_gif(random_game(3, 3, 1, 0), path)
    assert_same(frames_of(path), pictures_of(random_game(3, 3, 1, 0), [0]))


@pytest.mark.parametrize(
    ("argument", "value"),
    [("max_frames", 0), ("frame_ms", 10), ("frame_ms", 10**6), ("size", 20), ("size", 10**5), ("hold_ms", 0)],
)
def test_what_no_gif_can_be_is_refused(tmp_path: Path, argument: str, value: int) -> None:
    with pytest.raises(RecordError, match="cannot be made: expected"):
        write_gif(worked_game(), tmp_path / "game.gif", **{argument: value})  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_board_that_is_none_is_named_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    path.write_bytes(b"old")
    record = worked_game()
    moves = list(record.moves)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 3], [2, 0]])
    with pytest.raises(RecordError, match="the board before ply 3 cannot be drawn: 3 in row 1, column 2"):
        write_gif(msgspec.structs.replace(record, moves=moves), path)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 2, 0], [2, 0, 0]])
    with pytest.raises(RecordError, match="the board before ply 3 is 2×3 in a game that began on 2×2"):
        write_gif(msgspec.structs.replace(record, moves=moves), path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"the GIF .*game\.gif cannot be written: No such file"):
        write_gif(worked_game(), tmp_path / "missing" / "game.gif")


LONG_GAME = """
import resource, sys
from support.recorded import random_game
from recordings import GameRecord, build_record
from recordings.pictures.gif import write_gif
import msgspec
game = random_game(4, 4, 3, 100)
long = msgspec.structs.replace(game, moves=game.moves * 300, total_moves=30_000)
write_gif(game, sys.argv[1], max_frames=20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_gif(long, sys.argv[1], max_frames=500)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")
def test_memory_stays_flat_on_a_game_of_30_000_moves(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", LONG_GAME, str(tmp_path / "game.gif")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20  # megabytes; the 500 frames held at once would be 95
    with Image.open(tmp_path / "game.gif") as gif:
        assert getattr(gif, "n_frames", 0) == 500
