"""The GIF of a game: pictures spread over it, one shared palette, each storing only what changed.

Pillow would hold every frame of an animation until it is saved. Here frames are written as they are drawn,
two in memory at a time: Pillow compresses the pixels, and the few bytes around them are put together here.

Source: GIF89a specification, CompuServe, 1990.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image, ImageChops

from game2048.board import Board
from game2048.errors import RecordError, RulesError
from recordings.atomic import atomic
from recordings.pictures.board_image import TRANSPARENT, Renderer
from recordings.pictures.limits import (
    DEFAULT_FRAME_MS,
    DEFAULT_FRAMES,
    DEFAULT_SIZE,
    HOLD_MS,
    MAX_FRAME_MS,
    MAX_FRAMES,
    MAX_SIZE,
    MIN_FRAME_MS,
    MIN_SIZE,
)
from recordings.record import GameRecord


def write_gif(
    record: GameRecord,
    path: str | os.PathLike[str],
    *,
    max_frames: int = DEFAULT_FRAMES,
    frame_ms: int = DEFAULT_FRAME_MS,
    size: int = DEFAULT_SIZE,
    hold_ms: int = HOLD_MS,
) -> None:
    """Write a game as an animated GIF that repeats for ever.

    Args:
        record: the game.
        path: the file; replaced whole, or left as it was when something fails.
        max_frames: at most so many pictures, evenly spread over the game; the last shows its end.
        frame_ms: how long each stands, in milliseconds; GIF counts in tens.
        size: the width in pixels; the longest side of the board is a little less.
        hold_ms: how long the last one stands.

    Raises:
        RecordError: an argument is out of its bounds, a board of the record is none or of another size than
            the first, or the file cannot be written.
    """
    _check("frames", max_frames, 1, MAX_FRAMES)
    _check("milliseconds a frame", frame_ms, MIN_FRAME_MS, MAX_FRAME_MS)
    _check("size", size, MIN_SIZE, MAX_SIZE)
    _check("milliseconds of the last frame", hold_ms, MIN_FRAME_MS, MAX_FRAME_MS)
    path = Path(path)
    try:
        with atomic(path) as file:
            _write(file, record, max_frames, frame_ms, size, hold_ms)
    except OSError as error:
        raise RecordError(f"the GIF {path} cannot be written: {error.strerror or error}") from error


def _check(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise RecordError(f"a GIF of {value} {what} cannot be made: expected {low} to {high}")


def chosen_states(count: int, max_frames: int) -> list[int]:
    """Which of ``count`` states become frames: all if they are few, else spread evenly, first and last in.

    A single frame shows the last state.
    """
    if count <= max_frames:
        return list(range(count))
    if max_frames == 1:
        return [count - 1]
    return [(frame * (count - 1) + (max_frames - 1) // 2) // (max_frames - 1) for frame in range(max_frames)]


def _chosen(record: GameRecord, max_frames: int) -> Iterator[tuple[int, Board, int]]:
    """The states shown: moves made so far, board, score."""
    moves = record.moves
    size: tuple[int, int] | None = None
    for made in chosen_states(len(moves) + 1, max_frames):
        final = made == len(moves)
        place = "the final board" if final else f"the board before ply {made + 1}"
        try:
            board = Board.from_tiles(record.final_board if final else moves[made].board)
        except RulesError as error:
            raise RecordError(f"{place} cannot be drawn: {error}") from error
        size = size or (board.rows, board.columns)
        if (board.rows, board.columns) != size:
            raise RecordError(
                f"{place} is {board.rows}×{board.columns} in a game that began on {size[0]}×{size[1]}: "
                "expected one size"
            )
        yield made, board, record.final_score if final else moves[made].score


def _write(
    file: IO[bytes], record: GameRecord, max_frames: int, frame_ms: int, size: int, hold_ms: int
) -> None:
    renderer: Renderer | None = None
    shown: Image.Image | None = None
    for made, board, score in _chosen(record, max_frames):
        if renderer is None:
            renderer = Renderer(board.rows, board.columns, size)
            file.write(_head(renderer))
        picture = renderer.picture(board, score, made)
        file.write(_frame(picture, shown, hold_ms if made == len(record.moves) else frame_ms))
        shown = picture
    file.write(b"\x3b")


def _head(renderer: Renderer) -> bytes:
    """Header, size, the palette of all frames, and the request to repeat for ever."""
    screen = struct.pack("<6sHHBBB", b"GIF89a", renderer.width, renderer.height, 0xF7, 0, 0)
    return screen + bytes(renderer.palette) + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


def _frame(picture: Image.Image, shown: Image.Image | None, milliseconds: int) -> bytes:
    """A frame: the rectangle that differs from what is shown, pixels that do not differ transparent."""
    left = top = 0
    if shown is not None:
        changed = ImageChops.difference(picture, shown)
        left, top, right, bottom = changed.getbbox() or (0, 0, 1, 1)
        unchanged = changed.crop((left, top, right, bottom)).point(_ABSENT)
        picture = picture.crop((left, top, right, bottom))
        picture.paste(TRANSPARENT, mask=unchanged)
    flags = 0x05 if shown is not None else 0x04  # leave the frame standing; bit 0: with a transparent colour
    control = struct.pack("<3sBHBB", b"\x21\xf9\x04", flags, round(milliseconds / 10), TRANSPARENT, 0)
    place = struct.pack("<cHHHHB", b"\x2c", left, top, picture.width, picture.height, 0)
    return control + place + _compressed(picture)


_ABSENT = [255] + [0] * 255


def _compressed(picture: Image.Image) -> bytes:
    """The LZW data of a picture of palette indices, taken from a GIF of it alone."""
    buffer = io.BytesIO()
    picture.copy().save(buffer, "GIF", optimize=False, interlace=0)
    data = buffer.getvalue()
    place = 13 + _colour_table_bytes(data[10])
    while data[place] == 0x21:  # extensions: a label, then blocks
        place = _after_blocks(data, place + 2)
    start = place + 10 + _colour_table_bytes(data[place + 9])
    return data[start : _after_blocks(data, start + 1)]


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(data: bytes, place: int) -> int:
    """The place after a row of blocks, each led by its length, up to the empty one."""
    while data[place]:
        place += data[place] + 1
    return place + 1
