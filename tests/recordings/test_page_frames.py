from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from game2048.errors import RecordError
from recordings.pictures.animation_options import AnimationOptions
from recordings.pictures.page_frames import MAX_PAGE_FRAMES, PagePictures, write_page_animation


def png(red: int, size: tuple[int, int] = (40, 50)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (red, 10, 200)).save(file, "PNG")
    return file.getvalue()


def kept(moves: int, most: int) -> list[int]:
    """Return the states that are kept of a game; the picture of a state is its number."""
    pictures = PagePictures(most)
    for state in range(moves + 1):
        if pictures.wants(state):
            pictures.add(state, str(state).encode())
    pictures.add(None, b"-1")
    return [int(picture) for picture in pictures.in_order()]


def test_few_pictures_are_all_kept() -> None:
    assert kept(3, 10) == [0, 1, 2, 3, -1]


def test_many_pictures_are_thinned_out_evenly() -> None:
    # Five states are one too many for four: 0, 2, 4 stay, then 6; 8 makes five again: 0, 4, 8 stay.
    assert kept(5, 4) == [0, 2, 4, -1]
    assert kept(11, 4) == [0, 4, 8, -1]
    assert kept(10_000, 50)[:3] == [0, 256, 512]
    assert 25 <= len(kept(10_000, 50)) <= 50


def test_the_number_of_pictures_is_bounded() -> None:
    assert len(kept(5 * MAX_PAGE_FRAMES, 10**9)) <= MAX_PAGE_FRAMES


def test_the_animation_has_the_pictures_in_order(tmp_path: Path) -> None:
    path = tmp_path / "page.gif"
    options = AnimationOptions(pixels=120, frame_ms=200, hold_ms=1000)
    write_page_animation([png(0), png(120), png(250, (80, 20))], path, options)
    with Image.open(path) as gif:
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (3, (120, 150), 0)
        found = []
        for frame in range(3):
            gif.seek(frame)
            pixel = gif.convert("RGB").getpixel((60, 75))
            assert isinstance(pixel, tuple)
            found.append((pixel[0], gif.info["duration"]))
    assert found == [(0, 200), (120, 200), (250, 1000)]


def test_frames_are_left_out_until_the_file_fits(tmp_path: Path) -> None:
    noisy = []
    for seed in range(20):
        image = Image.effect_noise((120, 120), 40 + seed).convert("RGB")
        file = io.BytesIO()
        image.save(file, "PNG")
        noisy.append(file.getvalue())
    path = tmp_path / "page.gif"
    write_page_animation(noisy, path, AnimationOptions(pixels=120, max_bytes=100_000))
    assert path.stat().st_size <= 100_000
    with Image.open(path) as gif:
        assert 1 <= gif.n_frames < 20
    with pytest.raises(RecordError, match="not one frame fits into 1000 bytes"):
        write_page_animation(noisy, tmp_path / "small.gif", AnimationOptions(pixels=120, max_bytes=1000))
    assert not (tmp_path / "small.gif").exists()


def test_without_a_picture_and_with_a_broken_one_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no picture was taken"):
        write_page_animation([], tmp_path / "a.gif", AnimationOptions())
    with pytest.raises(RecordError, match="cannot be written"):
        write_page_animation([b"no picture"], tmp_path / "a.gif", AnimationOptions())
    assert list(tmp_path.iterdir()) == []
