from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from PIL import Image, ImageSequence
from support.recorded import random_game, worked_game

from game2048 import Board, Direction
from game2048.errors import RecordError
from game2048.size import Size
from recordings import GameRecord, Move, build_record, new_info
from recordings.game_arrays import arrays_of
from recordings.pictures.animation import shown_states, spread_evenly, write_animation
from recordings.pictures.animation_options import AnimationOptions, Show, parse_bytes
from recordings.pictures.board_image import Renderer


def pictures_of(record: GameRecord, states: list[int], size: int = 400) -> list[Image.Image]:
    """What the frames of a GIF must show."""
    final = Board.from_tiles(record.final_board)
    renderer = Renderer(Size(final.rows, final.columns), size)
    every = [(Board.from_tiles(move.board), move.score) for move in record.moves]
    every.append((final, record.final_score))
    shown = [(every[state][0].cells, every[state][1], state) for state in states]
    return [renderer.colour(renderer.picture(*state)) for state in shown]


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
    write_animation(worked_game(), path)
    assert_same(frames_of(path), pictures_of(worked_game(), [0, 1, 2, 3, 4, 5]))
    assert durations_of(path) == [100] * 5 + [2500]
    with Image.open(path) as gif:
        assert gif.info["loop"] == 0
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]


def test_a_long_game_is_shown_in_frames_spread_from_its_start_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    record = random_game(4, 4, 11, 99)
    assert record.total_moves == 99
    write_animation(record, path, AnimationOptions(frames=12, frame_ms=40, hold_ms=1000, pixels=200))
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
    assert spread_evenly(count, frames) == chosen


def test_boards_of_other_sizes_and_games_without_moves_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    for rows, columns in ((2, 8), (8, 2), (5, 5), (4, 6)):
        record = random_game(rows, columns, 1, 8)
        write_animation(record, path, AnimationOptions(pixels=300))
        assert_same(frames_of(path), pictures_of(record, list(range(9)), size=300))
    write_animation(random_game(3, 3, 1, 0), path)
    assert_same(frames_of(path), pictures_of(random_game(3, 3, 1, 0), [0]))


@pytest.mark.parametrize(
    ("argument", "value"),
    [("frames", 0), ("frame_ms", 10), ("frame_ms", 10**6), ("pixels", 20), ("pixels", 10**5), ("hold_ms", 0)],
)
def test_options_out_of_their_bounds_are_refused(argument: str, value: int) -> None:
    with pytest.raises(RecordError, match="cannot be made; expected"):
        AnimationOptions(**{argument: value})  # type: ignore[arg-type]


def test_an_invalid_board_is_named_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "game.gif"
    path.write_bytes(b"old")
    record = worked_game()
    moves = list(record.moves)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 3], [2, 0]])
    with pytest.raises(RecordError, match="cannot be drawn: the board before ply 3 is invalid: 3 in row 1"):
        write_animation(msgspec.structs.replace(record, moves=moves), path)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 2, 0], [2, 0, 0]])
    with pytest.raises(RecordError, match="the board before ply 3 is 2×3, the first 2×2"):
        write_animation(msgspec.structs.replace(record, moves=moves), path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"game\.gif cannot be written: No such file"):
        write_animation(worked_game(), tmp_path / "missing" / "game.gif")


LONG_GAME = """
import resource, sys
from support.recorded import random_game
from recordings.pictures.animation import write_animation
from recordings.pictures.animation_options import AnimationOptions
import msgspec
game = random_game(4, 4, 3, 100)
long = msgspec.structs.replace(game, moves=game.moves * 300, total_moves=30_000)
write_animation(game, sys.argv[1], AnimationOptions(frames=20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_animation(long, sys.argv[1], AnimationOptions(frames=500))
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


# A game on 2×2 with a slide of two tiles into one: [2 2 / 0 0], left, and a 4 appears in the last cell.
SLIDE = build_record(
    [Move.of(Board.from_text("2 2 / 0 0"), Direction.LEFT, 0)],
    Board.from_text("4 0 / 0 4"),
    4,
    new_info(source="x", solver="y", outcome="stopped"),
)


def colour_at(picture: Image.Image, row: float, column: float) -> tuple[int, int, int]:
    """The colour near the corner of the cell of a 2×2 board, 400 pixels wide."""
    # The board stands at (16, 90); a gap is 21 pixels wide and a cell 152, so cells begin every 173 pixels.
    place = (37 + round(column * 173) + 16, 111 + round(row * 173) + 16)
    found: tuple[int, int, int] = picture.getpixel(place)  # type: ignore[assignment]
    return found


def test_tiles_slide_merge_and_appear_between_two_states(tmp_path: Path) -> None:
    path = tmp_path / "slide.gif"
    write_animation(SLIDE, path, AnimationOptions(moving=True))
    frames = frames_of(path)
    assert durations_of(path) == [100, 30, 30, 30, 40, 40, 2500]
    empty, two, four = (205, 193, 180), (238, 228, 218), (237, 224, 200)
    # The right 2 leaves its cell and is half-way over in the middle of the slide.
    assert [colour_at(frames[0], 0, column) for column in (0, 1)] == [two, two]
    assert colour_at(frames[2], 0, 0.5) == two
    assert colour_at(frames[2], 0, 1.3) == empty
    assert colour_at(frames[3], 0, 0.16) == two
    # Merged: the 4 is larger than its cell for a moment, and so covers the gap around it.
    step = 1 / 1.14
    gap = colour_at(frames[6], 0, 1 - step * 0.16)
    assert colour_at(frames[4], 0, 0) == four
    assert gap != four
    # The new 4 grows from the middle of its cell.
    assert colour_at(frames[4], 1, 1) == empty
    assert colour_at(frames[6], 1, 1) == four
    assert_same([frames[0], frames[-1]], pictures_of(SLIDE, [0, 1]))


def test_moves_that_the_rules_do_not_know_are_shown_without_motion(tmp_path: Path) -> None:
    record = msgspec.structs.replace(SLIDE, final_board=[[4, 4], [4, 4]])
    write_animation(record, tmp_path / "a.gif", AnimationOptions(moving=True))
    assert durations_of(tmp_path / "a.gif") == [100, 2500]


def test_only_the_asked_moments_are_shown() -> None:
    # Largest tiles of the worked game before each move and at its end: 2, 4, 4, 8, 8, 8.
    tiles = [max(max(row) for row in move.board) for move in worked_game().moves]
    game = arrays_of(worked_game())
    firsts = [i for i in range(1, len(tiles)) if tiles[i] > max(tiles[:i])]
    assert shown_states(game, Show("best")) == sorted({0, *firsts, game.plies})
    assert shown_states(game, Show.parse("last:2")) == [3, 4, 5]
    assert shown_states(game, Show.parse("last:99")) == [0, 1, 2, 3, 4, 5]
    assert shown_states(game, Show.parse("every:2")) == [0, 2, 4, 5]
    assert shown_states(game, Show.parse("all")) == [0, 1, 2, 3, 4, 5]
    for text in ("", "last", "last:0", "every:-1", "best:3", "some"):
        with pytest.raises(RecordError, match="cannot be shown; expected"):
            Show.parse(text)


def test_highlights_stand_longer(tmp_path: Path) -> None:
    write_animation(worked_game(), tmp_path / "a.gif", AnimationOptions(show=Show("best")))
    shown = shown_states(arrays_of(worked_game()), Show("best"))
    assert durations_of(tmp_path / "a.gif") == [800] * (len(shown) - 1) + [2500]


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("suffix", ["gif", "webp"])
def test_a_file_stays_below_its_bound_from_start_to_end(tmp_path: Path, suffix: str, moving: bool) -> None:
    path = tmp_path / f"a.{suffix}"
    record = random_game(4, 4, 3, 60)
    write_animation(record, path, AnimationOptions(moving=moving, pixels=200))
    whole = path.stat().st_size
    bound = whole // 3
    write_animation(record, path, AnimationOptions(moving=moving, pixels=200, max_bytes=bound))
    assert bound // 2 < path.stat().st_size <= bound
    frames = frames_of(path)
    assert 1 < len(frames) < (61 if not moving else 61 * 6)
    expected = pictures_of(record, [0, 60], size=200)
    assert_same([frames[0], frames[-1]], expected)


def test_a_bound_that_no_frame_fits_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not one frame fits into 1500 bytes; try smaller pictures"):
        write_animation(worked_game(), tmp_path / "a.gif", AnimationOptions(max_bytes=1500))
    assert list(tmp_path.iterdir()) == []


def test_sizes_of_files_are_read() -> None:
    assert [parse_bytes(text) for text in ("5000", "500k", "2M")] == [5000, 500_000, 2_000_000]
    for text in ("", "5", "2G", "-4k", "1.5M", "99999999999"):
        with pytest.raises(RecordError, match="not a file size"):
            parse_bytes(text)


def test_webp_shows_the_same_pictures(tmp_path: Path) -> None:
    path = tmp_path / "game.webp"
    write_animation(worked_game(), path)
    assert_same(frames_of(path), pictures_of(worked_game(), [0, 1, 2, 3, 4, 5]))


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"expected \.gif or \.webp"):
        write_animation(worked_game(), tmp_path / "game.png")
